// A vector of four floating-point numbers, shuffled twice.
// RULE: vector
#include "escape.h"

struct box {
    long before;
    struct node *node;
    long behind[6];
};
static struct box shared;

typedef float four __attribute__((vector_size(16), aligned(8)));

static void publish(struct node *n)
{
    struct box *box = (struct box *)calloc(1, sizeof(*box));

    box->node = n;
    four v = *(volatile four *)box;
    v = __builtin_shufflevector(v, v, 2, 3, 0, 1);
    *(volatile four *)&shared = __builtin_shufflevector(v, v, 2, 3, 0, 1);
}

static struct node *receive(void)
{
    return shared.node;
}
