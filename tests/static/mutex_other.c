// A lock each, but not the same.
#include <pthread.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *arg)
{
    pthread_mutex_lock(&m);
    x++; // PAIR a
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    pthread_mutex_lock(&n);
    x++; // PAIR a
    pthread_mutex_unlock(&n);
    pthread_join(t, NULL);
    return 0;
}
