// FLAGS -O0
// The result of a trylock is asked for twice, and only another lock was released in between.
#include <pthread.h>

extern void work(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
int x, y;

static void *thread(void *arg)
{
    int busy = pthread_mutex_trylock(&m);
    if (!busy)
        x++; // NO PAIR
    work();
    pthread_mutex_lock(&other);
    pthread_mutex_unlock(&other);
    if (!busy) {
        y++; // NO PAIR
        pthread_mutex_unlock(&m);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
