// A machine instruction gathers words, among them the pointer, from a private block.
// RULE: vector
// FLAGS: -mavx2
#include <immintrin.h>

#include "escape.h"

static __m256i shared;

static void publish(struct node *n)
{
    long long *box = (long long *)calloc(8, sizeof(*box));

    box[unknown(5)] = (long long)n;
    shared =
        _mm256_i64gather_epi64(box, _mm256_set_epi64x(unknown(5), unknown(1), unknown(2), unknown(3)), 8);
}

static struct node *receive(void)
{
    return (struct node *)shared[3];
}
