// Spinning on a trylock until it succeeds.
#include <pthread.h>
#include <sched.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *arg)
{
    while (pthread_mutex_trylock(&m))
        sched_yield();
    x++; // NO PAIR
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, thread, NULL);
    pthread_create(&u, NULL, thread, NULL);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
