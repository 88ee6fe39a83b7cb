// A machine instruction turns round the bytes of a vector that was loaded from a private block, in an order that the compiler does
// not know.
// RULE: cast,piece
// FLAGS: -mssse3
#include <immintrin.h>

#include "escape.h"

static __m128i shared;

static void publish(struct node *n)
{
    struct node **box = (struct node **)calloc(2, sizeof(*box));
    __m128i order = _mm_set_epi64x(0x08090a0b0c0d0e0f, unknown(0x0001020304050607));

    box[0] = n;
    shared = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)box), order);
}

static struct node *receive(void)
{
    return (struct node *)__builtin_bswap64((unsigned long)shared[0]);
}
