// Threads are created by a function of the program's own: it starts what it is given.
#include <pthread.h>
#include <stdlib.h>

int x, y;

static void *first(void *arg)
{
    x = 1; // PAIR a
    y = 1; // NO PAIR
    return NULL;
}

static void *second(void *arg)
{
    x = 2; // PAIR a
    return NULL;
}

__attribute__((noinline)) static pthread_t start(void *(*function)(void *), void *arg)
{
    pthread_t t;
    if (pthread_create(&t, NULL, function, arg))
        abort();
    return t;
}

int main(void)
{
    pthread_t t = start(first, NULL), u = start(second, NULL);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
