// Taken by an atomic exchange: whoever gets it is the only one.
#include <pthread.h>
#include <stdlib.h>

static int *slot;

static void *thread(void *arg)
{
    int *p = __atomic_exchange_n(&slot, NULL, __ATOMIC_ACQ_REL); // NO PAIR
    if (p)
        ++*p; // PAIR a:owned b:owned,published
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, thread, NULL);
    int *p = malloc(sizeof *p);
    if (!p)
        abort();
    *p = 1;                                       // PAIR b
    __atomic_store_n(&slot, p, __ATOMIC_RELEASE); // NO PAIR
    return 0;
}
