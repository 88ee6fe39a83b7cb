// Locking and unlocking in functions of the program's own.
#include <pthread.h>
#include <stdlib.h>

int x, y;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void enter(void)
{
    if (pthread_mutex_lock(&m))
        abort();
}

__attribute__((noinline)) static void leave(void)
{
    if (pthread_mutex_unlock(&m))
        abort();
}

static void *thread(void *arg)
{
    enter();
    x++; // NO PAIR
    leave();
    y++; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    enter();
    x++; // NO PAIR
    y++; // PAIR a
    leave();
    pthread_join(t, NULL);
    return 0;
}
