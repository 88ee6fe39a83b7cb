// A wait releases the lock and takes it again.
#include <pthread.h>

int ready, data;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static void *consumer(void *arg)
{
    pthread_mutex_lock(&m);
    while (!ready) // NO PAIR
        pthread_cond_wait(&c, &m);
    data--; // NO PAIR
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, consumer, NULL);
    pthread_mutex_lock(&m);
    data = 5;  // NO PAIR
    ready = 1; // NO PAIR
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
