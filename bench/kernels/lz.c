/*
 * lz.c - an LZ77 compressor and decompressor: threads take blocks off a shared counter, as pigz and pbzip2
 * do.
 *
 * Byte-oriented, with a hash table of positions and data-dependent match loops. The input is shared and only
 * read; each block's output is one thread's own, and is expanded again and compared.
 */
#include "kernel.h"

#include <string.h>

#define BLOCK (128u << 10)
#define HASH_BITS 13
#define MIN_MATCH 4
#define MAX_MATCH 255
/* A run of up to 255 literals costs two bytes, a match four; one token of each kind always fits this bound.
 */
#define BOUND (BLOCK + BLOCK / 64 + 64)

static unsigned char *input;
static size_t blocks, next_block;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t *block_sum;

static uint32_t hash4(const unsigned char *p)
{
    uint32_t v = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    return v * 2654435761u >> (32 - HASH_BITS);
}

static unsigned char *literals(unsigned char *out, const unsigned char *from, const unsigned char *to)
{
    while (from < to) {
        size_t n = to - from > 255 ? 255 : (size_t)(to - from);
        *out++ = 0;
        *out++ = (unsigned char)n;
        for (size_t i = 0; i < n; i++)
            *out++ = *from++;
    }
    return out;
}

/* Tokens: 0 n bytes... (literals) or len dist24 (a match). Returns the length of the output. */
static size_t compress(const unsigned char *in, size_t n, unsigned char *out, uint32_t *table)
{
    const unsigned char *p = in, *end = in + n, *anchor = in;
    unsigned char *o = out;

    memset(table, 0, sizeof(*table) << HASH_BITS);
    while (p + MIN_MATCH <= end) {
        uint32_t h = hash4(p);
        const unsigned char *candidate = in + table[h];
        size_t len = 0, max = (size_t)(end - p) < MAX_MATCH ? (size_t)(end - p) : MAX_MATCH;
        table[h] = (uint32_t)(p - in);
        if (candidate < p)
            while (len < max && candidate[len] == p[len])
                len++;
        if (len <= MIN_MATCH) {
            p++;
            continue;
        }
        size_t distance = (size_t)(p - candidate);
        o = literals(o, anchor, p);
        *o++ = (unsigned char)len;
        *o++ = (unsigned char)distance;
        *o++ = (unsigned char)(distance >> 8);
        *o++ = (unsigned char)(distance >> 16);
        p += len;
        anchor = p;
    }
    return (size_t)(literals(o, anchor, end) - out);
}

static size_t expand(const unsigned char *in, size_t n, unsigned char *out)
{
    const unsigned char *end = in + n;
    unsigned char *o = out;

    while (in < end) {
        unsigned len = *in++;
        const unsigned char *from;
        if (len == 0) {
            len = *in++;
            from = in;
            in += len;
        } else {
            from = o - (in[0] | (size_t)in[1] << 8 | (size_t)in[2] << 16);
            in += 3;
        }
        for (unsigned i = 0; i < len; i++)
            *o++ = *from++;
    }
    return (size_t)(o - out);
}

static void *body(void *index)
{
    unsigned char *packed = kernel_alloc(BOUND, 1), *back = kernel_alloc(BLOCK, 1);
    uint32_t *table = kernel_alloc((size_t)1 << HASH_BITS, sizeof(*table));

    (void)index;
    for (;;) {
        pthread_mutex_lock(&lock);
        size_t b = next_block++;
        pthread_mutex_unlock(&lock);
        if (b >= blocks)
            break;
        size_t n = compress(input + b * BLOCK, BLOCK, packed, table);
        if (expand(packed, n, back) != BLOCK || memcmp(back, input + b * BLOCK, BLOCK) != 0)
            kernel_fail("a block did not survive");
        uint64_t sum = n;
        for (size_t i = 0; i < n; i++)
            sum = kernel_mix(sum, packed[i]);
        block_sum[b] = sum;
    }
    free(packed);
    free(back);
    free(table);
    return NULL;
}

/* Half words of a small vocabulary, half noise: compresses to about a half. */
static void make_input(size_t n)
{
    uint64_t state = 8;

    for (size_t i = 0; i < n;) {
        uint64_t r = kernel_random(&state);
        size_t len = 3 + r % 12;
        uint64_t word = (r >> 8) % 4 ? (r >> 16) % 512 : r;
        for (size_t k = 0; k < len && i < n; k++)
            input[i++] = (unsigned char)kernel_random(&word);
    }
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;

    kernel_args(argc, argv);
    blocks = kernel_scaled(320);
    input = kernel_alloc(blocks, BLOCK);
    block_sum = kernel_alloc(blocks, sizeof(*block_sum));
    make_input(blocks * BLOCK);
    kernel_run(body);
    for (size_t b = 0; b < blocks; b++)
        sum = kernel_mix(sum, block_sum[b]);
    kernel_print(sum);
    free(input);
    free(block_sum);
    return 0;
}
