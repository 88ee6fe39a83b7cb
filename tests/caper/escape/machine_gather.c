// A machine instruction gathers the two halves of a pointer from a private block.
// RULE: piece
// FLAGS: -mavx2
#include <immintrin.h>

#include "escape.h"

static int shared[4] __attribute__((aligned(16)));

static void publish(struct node *n)
{
    struct node **box = (struct node **)calloc(8, sizeof(*box));

    box[3] = n;
    _mm_store_si128((__m128i *)shared,
                    _mm_i32gather_epi32((const int *)box, _mm_set_epi32((int)unknown(7), 0, 0, 6), 4));
}

static struct node *receive(void)
{
    return (struct node *)((uintptr_t)(unsigned)shared[3] << 32 | (unsigned)shared[0]);
}
