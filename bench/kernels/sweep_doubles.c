/*
 * sweep_doubles.c - the triad z = x * k + y over doubles, three arrays taking turns.
 *
 * Bandwidth-bound natively, so what a detector adds is mostly its own memory traffic.
 */
#include "kernel.h"

#include <string.h>

#define DOUBLES (1u << 19)

static double *array[3];
static pthread_barrier_t turn;
static size_t passes;

static void triad(const double *restrict x, const double *restrict y, double *restrict z, size_t n)
{
    for (size_t i = 0; i < n; i++)
        z[i] = x[i] * 0.625 + y[i] * 0.375;
}

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;

    for (size_t pass = 0; pass < passes; pass++) {
        size_t lo, hi;
        kernel_share(DOUBLES, (unsigned)((me + pass) % n_threads), &lo, &hi);
        triad(array[pass % 3] + lo, array[(pass + 1) % 3] + lo, array[(pass + 2) % 3] + lo, hi - lo);
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 3, sum = 0;

    kernel_args(argc, argv);
    passes = kernel_scaled(2000);
    for (unsigned a = 0; a < 3; a++) {
        array[a] = kernel_alloc(DOUBLES, sizeof(double));
        for (size_t i = 0; i < DOUBLES; i++)
            array[a][i] = (double)(kernel_random(&state) >> 12);
    }
    pthread_barrier_init(&turn, NULL, n_threads);
    kernel_run(body);
    for (unsigned a = 0; a < 3; a++) {
        for (size_t i = 0; i < DOUBLES; i++) {
            uint64_t bits;
            memcpy(&bits, &array[a][i], sizeof(bits));
            sum = kernel_mix(sum, bits);
        }
        free(array[a]);
    }
    kernel_print(sum);
    return 0;
}
