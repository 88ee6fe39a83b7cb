/*
 * sweep_bytes.c - passes over a byte array: translate through a table, count what comes out.
 *
 * The parts move on by one thread each pass, with a barrier between, so every byte's last access is by
 * another thread. Byte-wise loads and stores that the compiler does not turn into vectors.
 */
#include "kernel.h"

#define BYTES (4u << 20)

static unsigned char *data;
static unsigned char table[256];
static uint32_t counts[MAX_THREADS][256];
static pthread_barrier_t turn;
static size_t passes;

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;
    uint32_t *count = counts[me];

    for (size_t pass = 0; pass < passes; pass++) {
        size_t lo, hi;
        kernel_share(BYTES, (unsigned)((me + pass) % n_threads), &lo, &hi);
        for (size_t i = lo; i < hi; i++) {
            unsigned char c = table[data[i]];
            data[i] = c;
            count[c]++;
        }
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 1, sum = 0;

    kernel_args(argc, argv);
    passes = kernel_scaled(120);
    data = kernel_alloc(BYTES, 1);
    for (size_t i = 0; i < BYTES; i++)
        data[i] = (unsigned char)kernel_random(&state);
    for (unsigned i = 0; i < 256; i++)
        table[i] = (unsigned char)(i * 167 + 13);
    pthread_barrier_init(&turn, NULL, n_threads);
    kernel_run(body);
    for (unsigned c = 0; c < 256; c++) {
        uint32_t all = 0;
        for (unsigned i = 0; i < n_threads; i++)
            all += counts[i][c];
        sum = kernel_mix(sum, all);
    }
    for (size_t i = 0; i < BYTES; i++)
        sum = kernel_mix(sum, data[i]);
    kernel_print(sum);
    free(data);
    return 0;
}
