// The halves of a pointer change their places in a vector of which only some elements are loaded.
// RULE: piece
// FLAGS: -O2 -mavx2
#include <immintrin.h>

#include "escape.h"

enum { WIDTH = 4 };
static uint32_t shared[2 * WIDTH];

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(2 * sizeof(*box));
    __m128i some = _mm_setr_epi32(-1, -1, 0, 0), loaded;

    *(struct node *volatile *)box = n;
    loaded = _mm_maskload_epi32((const int *)box, some);
    _mm_storeu_si128((__m128i *)(shared + unknown(WIDTH)),
                     _mm_shuffle_epi32(loaded, _MM_SHUFFLE(1, 3, 0, 2)));
}

static struct node *receive(void)
{
    return (struct node *)((uintptr_t)shared[WIDTH + 3] << 32 | shared[WIDTH + 1]);
}
