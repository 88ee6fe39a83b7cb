// A member deep in a structure that is a variable.
// RULE: store
#include "escape.h"

static struct {
    long head;
    struct {
        char pad[40];
        struct {
            long first;
            struct node *second;
        } pairs[8];
    } inner;
} shared;

static void publish(struct node *n)
{
    shared.inner.pairs[unknown(5)].second = n;
}

static struct node *receive(void)
{
    return shared.inner.pairs[unknown(5)].second;
}
