// A condition wait on a recursive mutex: it acquires on return like any lock.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include "invisible.h"

pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int ready, data;

THREAD(consumer)
{
    pthread_mutex_lock(&m);
    while (!ready)
        pthread_cond_wait(&c, &m);
    MUST(data == 1 || data == 2);
    data++;
    pthread_mutex_unlock(&m);
    return NULL;
}

THREAD(producer)
{
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m);
    data = 1;
    pthread_mutex_unlock(&m);
    ready = 1;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    data++;
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void)
{
    both(consumer, producer);
    return 0;
}
