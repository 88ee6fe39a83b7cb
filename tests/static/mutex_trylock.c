// A trylock that succeeded is a lock; one that failed is none.
#include <pthread.h>

int x, y;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *arg)
{
    if (pthread_mutex_trylock(&m) == 0) {
        x++; // NO PAIR
        pthread_mutex_unlock(&m);
    } else
        y++; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    pthread_mutex_lock(&m);
    x++; // NO PAIR
    y++; // PAIR a
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
