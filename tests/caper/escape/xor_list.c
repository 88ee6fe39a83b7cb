// A list with one linked for both directions.
// RULE: cast
#include "escape.h"

static struct node *ends[2];
static uintptr_t linked;

static void publish(struct node *n)
{
    static struct node first, last;

    ends[0] = &first;
    ends[1] = &last;
    linked = (uintptr_t)&first ^ (uintptr_t)n ^ (uintptr_t)&last;
}

static struct node *receive(void)
{
    return (struct node *)(linked ^ (uintptr_t)ends[0] ^ (uintptr_t)ends[1]);
}
