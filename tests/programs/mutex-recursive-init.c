// The same, initialised with attributes, tried recursively, and destroyed when all is done.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include "invisible.h"

pthread_mutex_t m;
long count;

THREAD(worker)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&m);
        MUST(pthread_mutex_trylock(&m) == 0);
        count++;
        pthread_mutex_unlock(&m);
        count++;
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &attr);
    pthread_mutexattr_destroy(&attr);
    both(worker, worker);
    pthread_mutex_destroy(&m);
    MUST(count == 400);
    return 0;
}
