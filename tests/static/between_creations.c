// Main, between creating one thread and creating another, is before the second only.
#include <pthread.h>

int x, y;

static void *first(void *arg)
{
    x = 1; // PAIR a
    return NULL;
}

static void *second(void *arg)
{
    y = 1; // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, first, NULL);
    x = 2; // PAIR a
    y = 2; // NO PAIR
    pthread_create(&u, NULL, second, NULL);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
