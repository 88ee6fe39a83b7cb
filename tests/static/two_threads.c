// Two different threads, and main out of the way.
#include <pthread.h>

int x;

static void *first(void *arg)
{
    x = 1; // PAIR a
    return NULL;
}

static void *second(void *arg)
{
    x = 2; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t, u;
    x = 3; // NO PAIR
    pthread_create(&t, NULL, first, NULL);
    pthread_create(&u, NULL, second, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return x; // NO PAIR
}
