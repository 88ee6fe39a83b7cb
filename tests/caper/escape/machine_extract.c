// The bits of an address that matter are put side by side.
// RULE: cast
// FLAGS: -mbmi2
#include <immintrin.h>

#include "escape.h"

static unsigned long *shared;

static void publish(struct node *n)
{
    unsigned long *box = (unsigned long *)calloc(4, sizeof(*box));

    box[1] = _pext_u64((unsigned long)n, (unsigned long)unknown(0x0000fffffffffff0));
    shared = box;
}

static struct node *receive(void)
{
    return (struct node *)_pdep_u64(shared[1], (unsigned long)unknown(0x0000fffffffffff0));
}
