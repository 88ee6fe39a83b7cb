// The lock is a parameter, and always the same one.
#include <pthread.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void add(pthread_mutex_t *lock, int *p)
{
    pthread_mutex_lock(lock);
    ++*p; // NO PAIR
    pthread_mutex_unlock(lock);
}

static void *thread(void *arg)
{
    add(&m, &x);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    add(&m, &x);
    pthread_join(t, NULL);
    return 0;
}
