// A list with one linked for both directions.
// RULE: cast
#include "escape.h"

static struct node *ends[2];
static uintptr_t linked;

static void publish(struct node *n)
{
    static struct node far[1 << 16]; /* so far apart that the sum is no address in the block */

    ends[0] = &far[0];
    ends[1] = &far[(1 << 16) - 1];
    linked = (uintptr_t)ends[0] ^ (uintptr_t)n ^ (uintptr_t)ends[1];
}

static struct node *receive(void)
{
    return (struct node *)(linked ^ (uintptr_t)ends[0] ^ (uintptr_t)ends[1]);
}
