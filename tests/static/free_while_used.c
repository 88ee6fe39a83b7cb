// Freeing is a write of the whole block.
#include <pthread.h>
#include <stdlib.h>

int *p;

static void *thread(void *arg)
{
    return (void *)(long)*p; // PAIR a
}

int main(void)
{
    pthread_t t;
    p = malloc(sizeof *p); // NO PAIR
    if (!p)
        return 1;
    *p = 5; // NO PAIR
    pthread_create(&t, NULL, thread, NULL);
    free(p); // PAIR a
    pthread_join(t, NULL);
    return 0;
}
