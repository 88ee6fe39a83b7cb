// A join that may fail hands over the thread's result all the same, but does not say that the thread has ended.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

int *shown, x;

static void *thread(void *arg)
{
    int *own = malloc(sizeof *own);
    __atomic_store_n(&shown, own, __ATOMIC_RELEASE);
    x++; // PAIR x
    return own;
}

static void *other(void *arg)
{
    int *p = __atomic_load_n(&shown, __ATOMIC_ACQUIRE);
    if (p != NULL)
        ++*p; // PAIR a
    return arg;
}

int main(void)
{
    pthread_t a, b;
    void *result;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, other, NULL);
    if (pthread_tryjoin_np(a, &result) == 0)
        ++*(int *)result; // PAIR a
    x++;                  // PAIR x
    return 0;
}
