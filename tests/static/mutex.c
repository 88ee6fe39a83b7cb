// A common lock.
#include <pthread.h>

int x, y;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *arg)
{
    pthread_mutex_lock(&m);
    x++; // NO PAIR
    pthread_mutex_unlock(&m);
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
