// FLAGS -O0
// The result of a trylock is asked for again, when the lock is released: it no longer says that the lock is held.
#include <pthread.h>

extern int more(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x, y, z;

static void drop(void)
{
    pthread_mutex_unlock(&m);
}

static void *thread(void *arg)
{
    int busy = pthread_mutex_trylock(&m);
    if (!busy) {
        x++; // NO PAIR
        pthread_mutex_unlock(&m);
    }
    if (!busy)
        y++; // PAIR a
    busy = pthread_mutex_trylock(&m);
    while (more()) {
        if (!busy) {
            z++; // PAIR b
            drop();
        }
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
