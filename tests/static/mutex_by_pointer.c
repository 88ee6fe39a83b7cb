// The lock is reached through a global pointer that only ever points to one.
#include <pthread.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t *lock;

static void *thread(void *arg)
{
    pthread_mutex_lock(lock); // NO PAIR
    x++;                      // NO PAIR
    pthread_mutex_unlock(lock);
    return NULL;
}

int main(void)
{
    pthread_t t;
    lock = &m; // NO PAIR
    pthread_create(&t, NULL, thread, NULL);
    pthread_mutex_lock(&m);
    x++; // NO PAIR
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
