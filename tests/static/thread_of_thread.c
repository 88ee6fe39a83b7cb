// A thread creates another: both run beside main and beside each other.
#include <pthread.h>

int x, y, z;

static void *inner(void *arg)
{
    x = 1; // PAIR a
    y = 1; // PAIR b
    return NULL;
}

static void *outer(void *arg)
{
    pthread_t t;
    z = 1; // PAIR c
    pthread_create(&t, NULL, inner, NULL);
    x = 2; // PAIR a
    pthread_join(t, NULL);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, outer, NULL);
    y = 2; // PAIR b
    z = 2; // PAIR c
    pthread_join(t, NULL);
    x = 3; // NO PAIR
    y = 3; // NO PAIR
    return 0;
}
