// A vector of which a machine instruction stores some words.
// RULE: vector
// FLAGS: -mavx2
#include <immintrin.h>

#include "escape.h"

static long long shared[4] __attribute__((aligned(32)));

static void publish(struct node *n)
{
    __m256i words = _mm256_set_epi64x(unknown(1), (long long)n, unknown(2), unknown(3));
    __m256i mask = _mm256_set_epi64x(unknown(0), unknown(-1), unknown(0), unknown(0));

    _mm256_maskstore_epi64(shared, mask, words);
}

static struct node *receive(void)
{
    return (struct node *)shared[2];
}
