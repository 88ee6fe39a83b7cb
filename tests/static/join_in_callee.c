// The join is in a function that is given the handle.
#include <pthread.h>
#include <stdlib.h>

int x;

static void *thread(void *arg)
{
    x = 1; // NO PAIR
    return NULL;
}

__attribute__((noinline)) static void finish(pthread_t t)
{
    if (pthread_join(t, NULL))
        abort();
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    finish(t);
    x = 2; // NO PAIR
    return 0;
}
