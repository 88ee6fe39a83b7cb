/*
 * redblack.c - multigrid for Poisson's equation: V-cycles of red-black sweeps, a barrier after each colour of
 * each level.
 *
 * Sweeps go in place and touch every other cell of a row; the coarse levels have little work between two
 * barriers, and rows at the edge of a thread's strip are read by its neighbour.
 */
#include "kernel.h"

#include <string.h>

#define LEVELS 8
#define FINEST 1024 /* intervals on a side; a grid has one point more */

struct grid {
    size_t side; /* points */
    double *u, *f;
};

static struct grid level[LEVELS];
static pthread_barrier_t turn;
static size_t cycles;

static void strip(const struct grid *g, unsigned me, size_t *ret_lo, size_t *ret_hi)
{
    kernel_share(g->side - 2, me, ret_lo, ret_hi);
    ++*ret_lo;
    ++*ret_hi;
}

static void relax(const struct grid *g, unsigned me, unsigned sweeps)
{
    size_t n = g->side, lo, hi;

    strip(g, me, &lo, &hi);
    for (unsigned colour = 0; colour < 2 * sweeps; colour++) {
        for (size_t y = lo; y < hi; y++) {
            double *u = g->u + y * n;
            const double *f = g->f + y * n;
            for (size_t x = 1 + (y + colour) % 2; x < n - 1; x += 2)
                u[x] = 0.25 * (u[x - 1] + u[x + 1] + u[x - n] + u[x + n] + f[x]);
        }
        pthread_barrier_wait(&turn);
    }
}

/* The residual of `fine` becomes the right side of `coarse`, whose solution starts from nothing. */
static void restrict_residual(const struct grid *fine, const struct grid *coarse, unsigned me)
{
    size_t n = fine->side, lo, hi;

    strip(coarse, me, &lo, &hi);
    for (size_t y = lo; y < hi; y++)
        for (size_t x = 1; x < coarse->side - 1; x++) {
            const double *u = fine->u + 2 * y * n + 2 * x;
            double r = fine->f[2 * y * n + 2 * x] - 4 * u[0] + u[-1] + u[1] + *(u - n) + u[n];
            coarse->f[y * coarse->side + x] = 2 * r; /* half weighting, times the square of the spacing */
            coarse->u[y * coarse->side + x] = 0;
        }
    pthread_barrier_wait(&turn);
}

static void correct(const struct grid *fine, const struct grid *coarse, unsigned me)
{
    size_t lo, hi;

    strip(fine, me, &lo, &hi);
    for (size_t y = lo; y < hi; y++)
        for (size_t x = 1; x < fine->side - 1; x++) {
            const double *c = coarse->u + y / 2 * coarse->side + x / 2;
            size_t right = x % 2, down = y % 2 * coarse->side;
            fine->u[y * fine->side + x] += 0.25 * (c[0] + c[right] + c[down] + c[down + right]);
        }
    pthread_barrier_wait(&turn);
}

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;

    for (size_t c = 0; c < cycles; c++) {
        for (unsigned l = 0; l < LEVELS - 1; l++) {
            relax(&level[l], me, 2);
            restrict_residual(&level[l], &level[l + 1], me);
        }
        relax(&level[LEVELS - 1], me, 8);
        for (unsigned l = LEVELS - 1; l > 0; l--) {
            correct(&level[l - 1], &level[l], me);
            relax(&level[l - 1], me, 1);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 23, sum = 0;

    kernel_args(argc, argv);
    cycles = kernel_scaled(60);
    for (unsigned l = 0; l < LEVELS; l++) {
        level[l].side = (FINEST >> l) + 1;
        level[l].u = kernel_alloc(level[l].side * level[l].side, sizeof(double));
        level[l].f = kernel_alloc(level[l].side * level[l].side, sizeof(double));
    }
    for (size_t i = 0; i < level[0].side * level[0].side; i++)
        level[0].f[i] = (double)(kernel_random(&state) % 2001) / 1000 - 1;
    pthread_barrier_init(&turn, NULL, n_threads);
    kernel_run(body);
    for (size_t i = 0; i < level[0].side * level[0].side; i++) {
        uint64_t bits;
        memcpy(&bits, &level[0].u[i], sizeof(bits));
        sum = kernel_mix(sum, bits);
    }
    kernel_print(sum);
    for (unsigned l = 0; l < LEVELS; l++) {
        free(level[l].u);
        free(level[l].f);
    }
    return 0;
}
