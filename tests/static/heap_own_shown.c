// What a thread allocates is shared once it is reachable from a global.
#include <pthread.h>
#include <stdlib.h>

int *shown;

static void *thread(void *arg)
{
    int *p = malloc(sizeof *p);
    if (!p)
        abort();
    *p = 1; // PAIR c:published
    __atomic_store_n(&shown, p, __ATOMIC_RELEASE);
    *p = 2; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    int *p = __atomic_load_n(&shown, __ATOMIC_ACQUIRE);
    if (p)
        *p = 3; // PAIR a c
    pthread_join(t, NULL);
    return 0;
}
