/*
 * sweep_ints.c - passes over 32-bit integers: each pass reads one array and writes the other.
 *
 * Unit-stride loops the compiler turns into vector code; the parts move on by one thread each pass.
 */
#include "kernel.h"

#define INTS (1u << 20)

static uint32_t *array[2];
static pthread_barrier_t turn;
static size_t passes;

static void sweep(const uint32_t *restrict from, uint32_t *restrict to, size_t n, uint32_t k)
{
    for (size_t i = 0; i < n; i++)
        to[i] += (from[i] ^ k) * 2654435761u;
}

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;

    for (size_t pass = 0; pass < passes; pass++) {
        size_t lo, hi;
        kernel_share(INTS, (unsigned)((me + pass) % n_threads), &lo, &hi);
        sweep(array[pass % 2] + lo, array[(pass + 1) % 2] + lo, hi - lo, (uint32_t)pass);
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 2, sum = 0;

    kernel_args(argc, argv);
    passes = kernel_scaled(3000);
    for (unsigned a = 0; a < 2; a++) {
        array[a] = kernel_alloc(INTS, sizeof(uint32_t));
        for (size_t i = 0; i < INTS; i++)
            array[a][i] = (uint32_t)kernel_random(&state);
    }
    pthread_barrier_init(&turn, NULL, n_threads);
    kernel_run(body);
    for (unsigned a = 0; a < 2; a++) {
        for (size_t i = 0; i < INTS; i++)
            sum = kernel_mix(sum, array[a][i]);
        free(array[a]);
    }
    kernel_print(sum);
    return 0;
}
