/*
 * heap.c - allocation and release as the main work: every thread replaces random blocks of a table of its
 * own, and now and then hands one to the next thread, which frees it.
 *
 * Sizes follow what programs ask for: mostly small, some pages. A block's first and last bytes are used.
 */
#include "kernel.h"

#define BLOCKS 2048

struct own {
    unsigned char *block[BLOCKS];
    size_t size[BLOCKS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *handed[MAX_THREADS]; /* under lock */
static uint64_t sums[MAX_THREADS];
static size_t operations;

static void hand_over(unsigned to, void *p)
{
    pthread_mutex_lock(&lock);
    void *before = handed[to];
    handed[to] = p;
    pthread_mutex_unlock(&lock);
    free(before);
}

static size_t choose_size(uint64_t r)
{
    switch (r % 16) {
    case 0:
        return 4096 + (r >> 8) % 12288;
    case 1:
    case 2:
        return 256 + (r >> 8) % 768;
    default:
        return 8 + (r >> 8) % 120;
    }
}

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;
    struct own *own = kernel_alloc(1, sizeof(*own));
    uint64_t state = me, sum = 0;

    for (size_t i = 0; i < operations; i++) {
        uint64_t r = kernel_random(&state);
        size_t k = (size_t)(r >> 40) % BLOCKS, size = choose_size(r);
        unsigned char *old = own->block[k], *p;
        if (old && r >> 63) {
            p = realloc(old, size);
            old = NULL;
        } else {
            p = malloc(size);
        }
        if (!p)
            kernel_fail("out of memory");
        if (old)
            sum = kernel_mix(sum, old[0] + old[own->size[k] - 1]);
        if (old && i % 32 == 0)
            hand_over((me + 1) % n_threads, old);
        else
            free(old);
        p[0] = (unsigned char)r;
        p[size - 1] = (unsigned char)(r >> 8);
        own->block[k] = p;
        own->size[k] = size;
    }
    for (size_t k = 0; k < BLOCKS; k++)
        free(own->block[k]);
    free(own);
    sums[me] = sum;
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;

    kernel_args(argc, argv);
    operations = kernel_scaled(5u * 1000 * 1000);
    kernel_run(body);
    for (unsigned i = 0; i < n_threads; i++) {
        sum = kernel_mix(sum, sums[i]);
        free(handed[i]);
    }
    kernel_print(sum);
    return 0;
}
