// An atomic store that orders nothing.
// RULE: atomic
#include <stdatomic.h>

#include "escape.h"

static _Atomic(struct node *) shared;

static void publish(struct node *n)
{
    atomic_store_explicit(&shared, n, memory_order_relaxed);
}

static struct node *receive(void)
{
    return atomic_load_explicit(&shared, memory_order_relaxed);
}
