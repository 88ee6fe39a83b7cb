// The end of its owner gives a robust mutex away, and orders what the owner did; one that lives on, and has
// given the mutex back before, is ordered up to there.
// FLAGS: -D_GNU_SOURCE
#include <errno.h>

#include "invisible.h"

static pthread_mutex_t m;
int inside, outside;

THREAD(owner)
{
    pthread_mutex_lock(&m);
    inside = 1;
    pthread_mutex_unlock(&m);
    outside = 1; // RACE a:write
    mark();
    after(2);
    return NULL;
}

THREAD(next)
{
    after(1);
    MUST(pthread_mutex_lock(&m) == 0);
    MUST(inside++ == 1);
    outside = 2; // RACE a:write
    pthread_mutex_unlock(&m);
    mark();
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&m, &attr);
    both(owner, next);
    return 0;
}
