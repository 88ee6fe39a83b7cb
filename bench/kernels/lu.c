/*
 * lu.c - blocked LU factorisation without pivoting, in the manner of the SPLASH kernel: blocks are dealt to
 * threads in two dimensions, with barriers between the diagonal, the panel and the inner updates of each
 * step.
 *
 * Blocks are contiguous; a step's diagonal and panel blocks are read by all threads that update with them.
 */
#include "kernel.h"

#include <string.h>

#define B 32
#define MAX_SIDE 62

typedef double block[B][B];

static block *matrix; /* side * side blocks, row by row */
static size_t side;
static pthread_barrier_t turn;

static block *at(size_t i, size_t j)
{
    return &matrix[i * side + j];
}

static unsigned owner(size_t i, size_t j)
{
    return (unsigned)((i + 3 * j) % n_threads);
}

static void factor(block a)
{
    for (size_t k = 0; k < B; k++)
        for (size_t i = k + 1; i < B; i++) {
            double f = a[i][k] /= a[k][k];
            for (size_t j = k + 1; j < B; j++)
                a[i][j] -= f * a[k][j];
        }
}

/* a := a * U^-1, with U the upper triangle of d. */
static void solve_right(block d, block a)
{
    for (size_t i = 0; i < B; i++)
        for (size_t k = 0; k < B; k++) {
            double f = a[i][k] /= d[k][k];
            for (size_t j = k + 1; j < B; j++)
                a[i][j] -= f * d[k][j];
        }
}

/* a := L^-1 * a, with L the unit lower triangle of d. */
static void solve_left(block d, block a)
{
    for (size_t k = 0; k < B; k++)
        for (size_t i = k + 1; i < B; i++)
            for (size_t j = 0; j < B; j++)
                a[i][j] -= d[i][k] * a[k][j];
}

static void update(block a, block l, block u)
{
    for (size_t i = 0; i < B; i++)
        for (size_t k = 0; k < B; k++) {
            double f = l[i][k];
            for (size_t j = 0; j < B; j++)
                a[i][j] -= f * u[k][j];
        }
}

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;

    for (size_t k = 0; k < side; k++) {
        if (owner(k, k) == me)
            factor(*at(k, k));
        pthread_barrier_wait(&turn);
        for (size_t i = k + 1; i < side; i++) {
            if (owner(i, k) == me)
                solve_right(*at(k, k), *at(i, k));
            if (owner(k, i) == me)
                solve_left(*at(k, k), *at(k, i));
        }
        pthread_barrier_wait(&turn);
        for (size_t i = k + 1; i < side; i++)
            for (size_t j = k + 1; j < side; j++)
                if (owner(i, j) == me)
                    update(*at(i, j), *at(i, k), *at(k, j));
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 9, sum = 0;

    kernel_args(argc, argv);
    /* The work grows with the cube of the side: the largest side whose cube is within the scaled work. */
    size_t work = kernel_scaled((size_t)MAX_SIDE * MAX_SIDE * MAX_SIDE);
    for (side = 1; (side + 1) * (side + 1) * (side + 1) <= work; side++)
        continue;
    matrix = kernel_alloc(side * side, sizeof(block));
    for (size_t b = 0; b < side * side; b++)
        for (size_t i = 0; i < B; i++)
            for (size_t j = 0; j < B; j++)
                matrix[b][i][j] = (double)(kernel_random(&state) % 1000) / 1000;
    for (size_t b = 0; b < side; b++) /* diagonally dominant: no pivoting needed */
        for (size_t i = 0; i < B; i++)
            (*at(b, b))[i][i] += (double)(side * B);
    pthread_barrier_init(&turn, NULL, n_threads);
    kernel_run(body);
    for (size_t b = 0; b < side * side; b++)
        for (size_t i = 0; i < B; i++)
            for (size_t j = 0; j < B; j++) {
                uint64_t bits;
                memcpy(&bits, &matrix[b][i][j], sizeof(bits));
                sum = kernel_mix(sum, bits);
            }
    kernel_print(sum);
    free(matrix);
    return 0;
}
