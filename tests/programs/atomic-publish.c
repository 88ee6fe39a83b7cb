// Initialise, then publish through an atomic pointer; readers walk what they find.
// NO RACE
#include <stdatomic.h>

#include "invisible.h"

struct node {
    struct node *next;
    int value;
};

_Atomic(struct node *) head;

THREAD(builder)
{
    for (int i = 0; i < 50; i++) {
        struct node *n = malloc(sizeof(*n));

        n->value = i;
        n->next = atomic_load_explicit(&head, memory_order_relaxed);
        atomic_store_explicit(&head, n, memory_order_release);
    }
    return NULL;
}

THREAD(walker)
{
    for (int round = 0; round < 50; round++) {
        int last = 50;

        for (struct node *n = atomic_load_explicit(&head, memory_order_acquire); n; n = n->next) {
            MUST(n->value < last);
            last = n->value;
        }
    }
    return NULL;
}

int main(void)
{
    both(builder, walker);
    return 0;
}
