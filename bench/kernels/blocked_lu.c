/*
 * blocked_lu.c - LU factorisation by blocks of a matrix that lies in memory row by row, with barriers between
 * the diagonal, the panels and the inner updates of each step.
 *
 * Unlike those of lu.c, a block's rows are a matrix row apart: each of its loops touches one short piece of
 * memory, and pieces of other threads' blocks lie between.
 */
#include "kernel.h"

#include <string.h>

#define B 16
#define MAX_SIDE 96 /* blocks */

static double *matrix;
static size_t side, n; /* in blocks, in elements */
static pthread_barrier_t turn;

static double *at(size_t i, size_t j)
{
    return matrix + i * B * n + j * B;
}

static unsigned owner(size_t i, size_t j)
{
    return (unsigned)((i + 5 * j) % n_threads);
}

static void factor(double *a)
{
    for (size_t k = 0; k < B; k++)
        for (size_t i = k + 1; i < B; i++) {
            double f = a[i * n + k] /= a[k * n + k];
            for (size_t j = k + 1; j < B; j++)
                a[i * n + j] -= f * a[k * n + j];
        }
}

/* a := a * U^-1, with U the upper triangle of d. */
static void solve_right(const double *d, double *a)
{
    for (size_t i = 0; i < B; i++)
        for (size_t k = 0; k < B; k++) {
            double f = a[i * n + k] /= d[k * n + k];
            for (size_t j = k + 1; j < B; j++)
                a[i * n + j] -= f * d[k * n + j];
        }
}

/* a := L^-1 * a, with L the unit lower triangle of d. */
static void solve_left(const double *d, double *a)
{
    for (size_t k = 0; k < B; k++)
        for (size_t i = k + 1; i < B; i++)
            for (size_t j = 0; j < B; j++)
                a[i * n + j] -= d[i * n + k] * a[k * n + j];
}

static void update(double *a, const double *l, const double *u)
{
    for (size_t i = 0; i < B; i++)
        for (size_t k = 0; k < B; k++) {
            double f = l[i * n + k];
            for (size_t j = 0; j < B; j++)
                a[i * n + j] -= f * u[k * n + j];
        }
}

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;

    for (size_t k = 0; k < side; k++) {
        if (owner(k, k) == me)
            factor(at(k, k));
        pthread_barrier_wait(&turn);
        for (size_t i = k + 1; i < side; i++) {
            if (owner(i, k) == me)
                solve_right(at(k, k), at(i, k));
            if (owner(k, i) == me)
                solve_left(at(k, k), at(k, i));
        }
        pthread_barrier_wait(&turn);
        for (size_t i = k + 1; i < side; i++)
            for (size_t j = k + 1; j < side; j++)
                if (owner(i, j) == me)
                    update(at(i, j), at(i, k), at(k, j));
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 37, sum = 0;

    kernel_args(argc, argv);
    /* The work grows with the cube of the side: the largest side whose cube is within the scaled work. */
    size_t work = kernel_scaled((size_t)MAX_SIDE * MAX_SIDE * MAX_SIDE);
    for (side = 1; (side + 1) * (side + 1) * (side + 1) <= work; side++)
        continue;
    n = side * B;
    matrix = kernel_alloc(n * n, sizeof(double));
    for (size_t i = 0; i < n * n; i++)
        matrix[i] = (double)(kernel_random(&state) % 1000) / 1000;
    for (size_t i = 0; i < n; i++) /* diagonally dominant: no pivoting needed */
        matrix[i * n + i] += (double)n;
    pthread_barrier_init(&turn, NULL, n_threads);
    kernel_run(body);
    for (size_t i = 0; i < n * n; i++) {
        uint64_t bits;
        memcpy(&bits, &matrix[i], sizeof(bits));
        sum = kernel_mix(sum, bits);
    }
    kernel_print(sum);
    free(matrix);
    return 0;
}
