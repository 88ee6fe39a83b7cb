/*
 * stencil.c - Jacobi iteration on a grid of doubles, two grids taking turns, a barrier after each step.
 *
 * Rows at the edge of a thread's strip are read by the neighbour one step later. Every epoch touches every
 * cell of a large array once, which gives a same-epoch check little to hit.
 */
#include "kernel.h"

#include <string.h>

#define SIDE 1024

static double (*grid[2])[SIDE];
static pthread_barrier_t turn;
static size_t steps;

static void row(const double *restrict up, const double *restrict at, const double *restrict down,
                double *restrict out)
{
    for (size_t x = 1; x < SIDE - 1; x++)
        out[x] = 0.2 * (at[x] + at[x - 1] + at[x + 1] + up[x] + down[x]);
}

static void *body(void *index)
{
    size_t lo, hi;

    kernel_share(SIDE - 2, (unsigned)(uintptr_t)index, &lo, &hi);
    for (size_t s = 0; s < steps; s++) {
        double(*from)[SIDE] = grid[s % 2], (*to)[SIDE] = grid[(s + 1) % 2];
        for (size_t y = lo + 1; y < hi + 1; y++)
            row(from[y - 1], from[y], from[y + 1], to[y]);
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 7, sum = 0;

    kernel_args(argc, argv);
    steps = kernel_scaled(800);
    grid[0] = kernel_alloc(SIDE, sizeof(*grid[0]));
    grid[1] = kernel_alloc(SIDE, sizeof(*grid[1]));
    for (size_t y = 0; y < SIDE; y++)
        for (size_t x = 0; x < SIDE; x++)
            grid[0][y][x] = grid[1][y][x] = (double)(kernel_random(&state) >> 20);
    pthread_barrier_init(&turn, NULL, n_threads);
    kernel_run(body);
    for (size_t y = 0; y < SIDE; y++)
        for (size_t x = 0; x < SIDE; x++) {
            uint64_t bits;
            memcpy(&bits, &grid[steps % 2][y][x], sizeof(bits));
            sum = kernel_mix(sum, bits);
        }
    kernel_print(sum);
    free(grid[0]);
    free(grid[1]);
    return 0;
}
