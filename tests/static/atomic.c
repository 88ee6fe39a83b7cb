// Atomic on both sides: no pair, whatever the order. Atomic on one side: a pair.
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;
int y;

static void *thread(void *arg)
{
    atomic_fetch_add_explicit(&x, 1, memory_order_relaxed); // NO PAIR
    __atomic_store_n(&y, 1, __ATOMIC_SEQ_CST);              // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    atomic_store(&x, 5); // NO PAIR
    int seen = y;        // PAIR a
    pthread_join(t, NULL);
    return seen;
}
