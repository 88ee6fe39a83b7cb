// The first lock is released while the second is held.
#include <pthread.h>

int x, y;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&n);
    pthread_mutex_unlock(&m);
    x++; // NO PAIR
    y++; // PAIR a
    pthread_mutex_unlock(&n);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    pthread_mutex_lock(&n);
    x++; // NO PAIR
    pthread_mutex_unlock(&n);
    pthread_mutex_lock(&m);
    y++; // PAIR a
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
