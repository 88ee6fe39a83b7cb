// An atomic or.
// RULE: atomic
#include <stdatomic.h>

#include "escape.h"

static _Atomic uintptr_t shared;

static void publish(struct node *n)
{
    atomic_fetch_or(&shared, (uintptr_t)n);
}

static struct node *receive(void)
{
    return (struct node *)atomic_load_explicit(&shared, memory_order_relaxed);
}
