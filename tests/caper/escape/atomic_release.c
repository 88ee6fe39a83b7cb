// An atomic store that releases.
// RULE: atomic
#include <stdatomic.h>

#include "escape.h"

static _Atomic(struct node *) shared;

static void publish(struct node *n)
{
    atomic_store_explicit(&shared, n, memory_order_release);
}

static struct node *receive(void)
{
    return atomic_load_explicit(&shared, memory_order_relaxed);
}
