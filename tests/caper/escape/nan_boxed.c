// In the bits of a floating-point number that is none, as interpreters keep values, in a private block.
// RULE: tags
#include "escape.h"

union value {
    double number;
    uint64_t bits;
};
static union value *shared;

static void publish(struct node *n)
{
    union value *values = (union value *)calloc(4, sizeof(*values));

    values[1].number = 1.5;
    values[unknown(2)].bits = (uintptr_t)n | 0xfffcull << 48;
    shared = values;
}

static struct node *receive(void)
{
    union value v = {.number = shared[2].number};

    return (struct node *)(v.bits & ((1ull << 48) - 1));
}
