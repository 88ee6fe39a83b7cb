// A pointer and a count, exchanged together.
// RULE: atomic,cast
// FLAGS: -mcx16
#include "escape.h"

static __int128 shared;

static void publish(struct node *n)
{
    __int128 old = 0;

    MUST(__atomic_compare_exchange_n(&shared, &old, (__int128)(uintptr_t)n << 64 | 1, 0, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST));
}

static struct node *receive(void)
{
    return (struct node *)(uintptr_t)(*(volatile __int128 *)&shared >> 64);
}
