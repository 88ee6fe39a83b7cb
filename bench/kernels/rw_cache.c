/*
 * rw_cache.c - a cache under one reader-writer lock: look-ups take it shared, one in 64 refreshes a line
 * exclusively.
 *
 * What a line holds is a function of its key, so a look-up's answer does not depend on who refreshed it when.
 */
#include "kernel.h"

#define LINES 4096
#define WORDS 12

struct line {
    uint32_t refreshed;
    uint32_t word[WORDS];
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct line cache[LINES];
static uint64_t sums[MAX_THREADS];
static size_t operations;

static void fill(unsigned key)
{
    for (unsigned i = 0; i < WORDS; i++)
        cache[key].word[i] = (key + i) * 2246822519u;
    cache[key].refreshed++;
}

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;
    uint64_t state = me, sum = 0;

    for (size_t i = 0; i < operations; i++) {
        uint64_t r = kernel_random(&state);
        unsigned key = (unsigned)(r >> 32) % LINES;
        if (r % 64 == 0) {
            pthread_rwlock_wrlock(&lock);
            fill(key);
            pthread_rwlock_unlock(&lock);
            continue;
        }
        pthread_rwlock_rdlock(&lock);
        uint32_t got = 0;
        for (unsigned w = 0; w < WORDS; w++)
            got = got * 31 + cache[key].word[w];
        pthread_rwlock_unlock(&lock);
        sum += got;
    }
    sums[me] = sum;
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;

    kernel_args(argc, argv);
    operations = kernel_scaled(2u * 1000 * 1000);
    for (unsigned key = 0; key < LINES; key++)
        fill(key);
    kernel_run(body);
    for (unsigned i = 0; i < n_threads; i++)
        sum = kernel_mix(sum, sums[i]);
    for (unsigned key = 0; key < LINES; key++)
        sum = kernel_mix(sum, cache[key].refreshed);
    kernel_print(sum);
    return 0;
}
