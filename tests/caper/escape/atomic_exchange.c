// An exchange.
// RULE: atomic
#include <stdatomic.h>

#include "escape.h"

static _Atomic(struct node *) shared;

static void publish(struct node *n)
{
    MUST(!atomic_exchange(&shared, n));
}

static struct node *receive(void)
{
    return atomic_load_explicit(&shared, memory_order_relaxed);
}
