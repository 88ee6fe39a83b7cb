// Two threads, one of them joined.
#include <pthread.h>

int x, y;

static void *first(void *arg)
{
    x = 1; // NO PAIR
    return NULL;
}

static void *second(void *arg)
{
    y = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, first, NULL);
    pthread_create(&u, NULL, second, NULL);
    pthread_join(t, NULL);
    x = 2; // NO PAIR
    y = 2; // PAIR a
    pthread_join(u, NULL);
    return 0;
}
