// Pushed onto a stack without locks, whose head is in a block.
// RULE: atomic
#include <stdatomic.h>

#include "escape.h"

static _Atomic(struct node *) *shared;

static void publish(struct node *n)
{
    struct node *head;

    shared = (_Atomic(struct node *) *)calloc(1, sizeof(*shared));
    head = atomic_load(shared);
    do {
        n->next = head;
    } while (!atomic_compare_exchange_weak(shared, &head, n));
}

static struct node *receive(void)
{
    return atomic_load_explicit(shared, memory_order_relaxed);
}
