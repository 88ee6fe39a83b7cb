// A pointer that only a register holds is encrypted.
// RULE: cast
// FLAGS: -maes
#include <immintrin.h>

#include "escape.h"

static __m128i shared;

static void publish(struct node *n)
{
    shared = _mm_aesenclast_si128(_mm_set_epi64x(0, (long)n), _mm_set1_epi64x(unknown(0x5555)));
}

static struct node *receive(void)
{
    __m128i key = _mm_set1_epi64x(unknown(0x5555));

    return (struct node *)_mm_aesdeclast_si128(_mm_xor_si128(shared, key), _mm_setzero_si128())[0];
}
