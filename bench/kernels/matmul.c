/*
 * matmul.c - matrix product: both operands are read by every thread, each row of the result is one thread's.
 *
 * The reads dominate and are shared: the case where a detector must remember several readers per location.
 */
#include "kernel.h"

#include <string.h>

#define N 512

static double (*a)[N], (*b)[N], (*c)[N];
static size_t rounds;

static void row_product(const double *restrict x, double *restrict out)
{
    memset(out, 0, sizeof(*c));
    for (size_t k = 0; k < N; k++)
        for (size_t j = 0; j < N; j++)
            out[j] += x[k] * b[k][j];
}

static void *body(void *index)
{
    size_t lo, hi;

    kernel_share(N, (unsigned)(uintptr_t)index, &lo, &hi);
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = lo; i < hi; i++)
            row_product(a[i], c[i]);
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 4, sum = 0;

    kernel_args(argc, argv);
    rounds = kernel_scaled(32);
    a = kernel_alloc(N, sizeof(*a));
    b = kernel_alloc(N, sizeof(*b));
    c = kernel_alloc(N, sizeof(*c));
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            a[i][j] = (double)(kernel_random(&state) & 0xffff);
            b[i][j] = (double)(kernel_random(&state) & 0xffff);
        }
    kernel_run(body);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            sum = kernel_mix(sum, (uint64_t)c[i][j]);
    kernel_print(sum);
    free(a);
    free(b);
    free(c);
    return 0;
}
