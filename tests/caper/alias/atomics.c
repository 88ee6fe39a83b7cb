/* Relaxed atomics alias as plain accesses do. pairs: A-B A-C B-C */
#include "alias.h"
#include <stdatomic.h>
atomic_int x;
int y;
static void *first(void *arg)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed); /* A */
    return arg;
}
static void *second(void *arg)
{
    atomic_fetch_add_explicit(&x, 1, memory_order_relaxed); /* B */
    return arg;
}
static void *third(void *arg)
{
    y = atomic_load_explicit(&x, memory_order_relaxed); /* C */
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, third, NULL);
    both(first, second, NULL);
    pthread_join(t, NULL);
    return 0;
}
