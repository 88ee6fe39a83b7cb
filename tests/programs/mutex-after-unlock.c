// An access just after the unlock is not protected by it.
#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int inside, outside;

THREAD(first)
{
    pthread_mutex_lock(&m);
    inside = 1;
    pthread_mutex_unlock(&m);
    outside = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    pthread_mutex_lock(&m);
    inside++;
    outside++; // RACE a
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
