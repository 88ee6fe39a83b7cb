// The result of a trylock, not looked at.
#include <pthread.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *arg)
{
    pthread_mutex_trylock(&m);
    x++; // PAIR a
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    pthread_mutex_lock(&m);
    x++; // PAIR a
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
