// An exchange if equal, which succeeds.
// RULE: atomic
#include <stdatomic.h>

#include "escape.h"

static _Atomic(struct node *) shared;

static void publish(struct node *n)
{
    struct node *old = NULL;

    MUST(atomic_compare_exchange_strong(&shared, &old, n));
}

static struct node *receive(void)
{
    return atomic_load_explicit(&shared, memory_order_relaxed);
}
