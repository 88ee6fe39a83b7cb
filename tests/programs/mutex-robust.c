// A robust mutex whose owner died: the next owner gets EOWNERDEAD and holds the lock all the same.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <errno.h>

#include "invisible.h"

pthread_mutex_t m;
int x;

THREAD(dies)
{
    pthread_mutex_lock(&m);
    return NULL;
}

THREAD(heir)
{
    MUST(pthread_mutex_lock(&m) == EOWNERDEAD);
    x = 1;
    MUST(pthread_mutex_consistent(&m) == 0);
    pthread_mutex_unlock(&m);
    mark();
    return NULL;
}

THREAD(third)
{
    after(1);
    MUST(pthread_mutex_lock(&m) == 0);
    x++;
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&m, &attr);
    join(spawn(dies, NULL));
    both(heir, third);
    MUST(x == 2);
    return 0;
}
