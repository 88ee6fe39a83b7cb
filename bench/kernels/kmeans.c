/*
 * kmeans.c - clustering of points: every thread assigns points of its share to the nearest centre and adds
 * them up in accumulators of its own; after a barrier, one thread makes new centres of all accumulators.
 *
 * The points are read by one thread each, but the centres by all, after one has written them.
 */
#include "kernel.h"

#include <string.h>

#define POINTS (1u << 14)
#define DIMENSIONS 8
#define CENTRES 16

struct sums {
    double total[CENTRES][DIMENSIONS];
    uint32_t count[CENTRES];
} __attribute__((aligned(64)));

static double (*points)[DIMENSIONS];
static uint8_t *nearest;
static double centres[CENTRES][DIMENSIONS];
static struct sums sums[MAX_THREADS];
static pthread_barrier_t turn;
static size_t n_points, rounds;

static unsigned choose(const double *p)
{
    double least = 1e300;
    unsigned best = 0;

    for (unsigned c = 0; c < CENTRES; c++) {
        double square = 0;
        for (unsigned k = 0; k < DIMENSIONS; k++)
            square += (p[k] - centres[c][k]) * (p[k] - centres[c][k]);
        if (square < least) {
            least = square;
            best = c;
        }
    }
    return best;
}

static void move_centres(void)
{
    for (unsigned c = 0; c < CENTRES; c++) {
        double total[DIMENSIONS] = {0};
        uint32_t count = 0;
        for (unsigned t = 0; t < n_threads; t++) {
            count += sums[t].count[c];
            for (unsigned k = 0; k < DIMENSIONS; k++)
                total[k] += sums[t].total[c][k];
        }
        for (unsigned k = 0; k < DIMENSIONS && count; k++)
            centres[c][k] = total[k] / count;
    }
}

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;
    struct sums *mine = &sums[me];
    size_t lo, hi;

    kernel_share(n_points, me, &lo, &hi);
    for (size_t r = 0; r < rounds; r++) {
        memset(mine, 0, sizeof(*mine));
        for (size_t i = lo; i < hi; i++) {
            unsigned c = choose(points[i]);
            nearest[i] = (uint8_t)c;
            mine->count[c]++;
            for (unsigned k = 0; k < DIMENSIONS; k++)
                mine->total[c][k] += points[i][k];
        }
        pthread_barrier_wait(&turn);
        if (me == 0)
            move_centres();
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 41, sum = 0;

    kernel_args(argc, argv);
    rounds = kernel_passes(640);
    n_points = (size_t)POINTS * volume;
    points = kernel_alloc(n_points, sizeof(*points));
    nearest = kernel_alloc(n_points, 1);
    for (size_t i = 0; i < n_points; i++)
        for (unsigned k = 0; k < DIMENSIONS; k++) {
            uint64_t r = kernel_random(&state);
            points[i][k] = (double)(r % 1000) + (r >> 32 & (1u << k) ? 1500 : 0);
        }
    memcpy(centres, points, sizeof(centres));
    pthread_barrier_init(&turn, NULL, n_threads);
    kernel_run(body);
    for (size_t i = 0; i < n_points; i++)
        sum = kernel_mix(sum, nearest[i]);
    for (unsigned c = 0; c < CENTRES; c++)
        for (unsigned k = 0; k < DIMENSIONS; k++)
            sum = kernel_mix(sum, (uint64_t)(centres[c][k] * 1024));
    kernel_print(sum);
    free(nearest);
    free(points);
    return 0;
}
