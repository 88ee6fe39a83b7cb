// A thread joins another; who joins that one is after both.
#include <pthread.h>

int x, y;
pthread_t worker_handle;

static void *worker(void *arg)
{
    x = 1; // NO PAIR
    y = 1; // PAIR a
    return NULL;
}

static void *keeper(void *arg)
{
    pthread_create(&worker_handle, NULL, worker, NULL);
    pthread_join(worker_handle, NULL);
    x = 2; // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, keeper, NULL);
    y = 2; // PAIR a
    pthread_join(t, NULL);
    x = 3; // NO PAIR
    return 0;
}
