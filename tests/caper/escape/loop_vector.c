// A loop over pointers, which the compiler turns into vectors.
// RULE: vector,store,copy
// FLAGS: -O3 -mavx2
#include "escape.h"

enum { MANY = 64 };
static struct node *shared[MANY];

NOINLINE void hand_over(struct node *restrict *to, struct node *restrict *from, struct node *none, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = from[i] == none ? NULL : from[i];
}

static void publish(struct node *n)
{
    struct node **box = (struct node **)calloc(MANY, sizeof(*box));

    box[13] = n;
    hand_over(shared, box, (struct node *)unknown(8), unknown(MANY));
}

static struct node *receive(void)
{
    return shared[13];
}
