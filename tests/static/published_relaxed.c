// The address is handed on by an atomic store that orders nothing: what was written before it is not published, and
// no pair on the address would tell.
#include <pthread.h>
#include <stdlib.h>

static int *relaxed, *released;

static void *thread(void *arg)
{
    int *p = __atomic_load_n(&relaxed, __ATOMIC_ACQUIRE), *q = __atomic_load_n(&released, __ATOMIC_ACQUIRE);
    if (p)
        ++*p; // PAIR a
    if (q)
        ++*q; // PAIR b:published
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    int *p = malloc(sizeof *p), *q = malloc(sizeof *q);
    if (!p || !q)
        abort();
    *p = 1;                                           // PAIR a
    *q = 1;                                           // PAIR b
    __atomic_store_n(&relaxed, p, __ATOMIC_RELAXED);  // NO PAIR
    __atomic_store_n(&released, q, __ATOMIC_RELEASE); // NO PAIR
    return pthread_join(t, NULL);
}
