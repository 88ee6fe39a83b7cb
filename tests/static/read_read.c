// Two reads are no pair, whatever runs beside them.
#include <pthread.h>
#include <stdlib.h>

int x;

static void *thread(void *arg)
{
    exit(x); // NO PAIR
}

int main(void)
{
    pthread_t t;
    x = 5; // NO PAIR
    pthread_create(&t, NULL, thread, NULL);
    return x; // NO PAIR
}
