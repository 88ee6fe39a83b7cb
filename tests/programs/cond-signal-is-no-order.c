// A signal orders nothing by itself: what is written between the unlock and the signal is unprotected.
#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int ready, late;

THREAD(producer)
{
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_mutex_unlock(&m);
    late = 1; // RACE a:write
    mark();
    pthread_cond_signal(&c);
    return NULL;
}

THREAD(consumer)
{
    pthread_mutex_lock(&m);
    while (!ready)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    after(1);
    use(late); // RACE a:read
    return NULL;
}

int main(void)
{
    both(consumer, producer);
    return 0;
}
