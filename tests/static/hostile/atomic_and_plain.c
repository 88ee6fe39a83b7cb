// A pointer published by an atomic, and one variable accessed both ways.
#include <pthread.h>
#include <stdatomic.h>
atomic_int a;
_Atomic(int *) p;
int x;
int mixed;

static void *f(void *v)
{
    atomic_fetch_add(&a, 1);
    int *q = atomic_load(&p);
    if (q)
        *q = 2;                                    // RACE a
    __atomic_store_n(&mixed, 1, __ATOMIC_RELEASE); // RACE b
    return v;
}

int main(void)
{
    atomic_store(&p, &x);
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    atomic_fetch_add(&a, 1);
    x = 1;     // RACE a
    mixed = 2; // RACE b
    pthread_join(t, 0);
    return 0;
}
