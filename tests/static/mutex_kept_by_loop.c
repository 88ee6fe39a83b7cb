// Released and taken again at the end of each round.
#include <pthread.h>
#include <sched.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *arg)
{
    pthread_mutex_lock(&m);
    for (int i = 0; i < 1000; i++) {
        x++; // NO PAIR
        pthread_mutex_unlock(&m);
        sched_yield();
        pthread_mutex_lock(&m);
    }
    x--; // NO PAIR
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
