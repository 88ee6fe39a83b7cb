/*
 * sor.c - successive over-relaxation on a square grid, red points and black points in turn.
 *
 * FastTrack paper, table 1 (Java Grande sor, 4 threads): Eraser 3, the other five 0.
 *
 * Real: none. A thread owns a band of rows; it reads its neighbours' rows of the other colour, and
 * a barrier parts the colours.
 *
 * False, Eraser only: `grid`, `row_sums` and `total`, all written by main first and then by the threads; what
 * orders them are thread creation and barriers, which it does not know. The rows at the edge of a band would
 * be reported without main too: written by one thread, read by another, written again.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror -lm
// OUTPUT: sor: 12 sweeps, total 123664.342907083
// NO RACE
#include "program.h"

#include <math.h>

enum { SIZE = 500, SWEEPS = 12 };
#define OMEGA 1.25

static double grid[SIZE][SIZE];
static double row_sums[SIZE]; /* so that the sum does not depend on the number of threads */
static double total;
static pthread_barrier_t barrier;

static void relax_row(int i, int colour)
{
    for (int j = 1 + (i + colour) % 2; j < SIZE - 1; j += 2)
        grid[i][j] = OMEGA / 4 * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]) +
                     (1 - OMEGA) * grid[i][j];
}

THREAD(relaxer)
{
    int from = 1 + (int)part(SIZE - 2, ME, threads), to = 1 + (int)part(SIZE - 2, ME + 1, threads);

    for (int half = 0; half < 2 * SWEEPS * scale; half++) {
        for (int i = from; i < to; i++)
            relax_row(i, half % 2);
        pthread_barrier_wait(&barrier);
    }
    for (int i = from; i < to; i++) {
        double sum = 0;

        for (int j = 1; j < SIZE - 1; j++)
            sum += grid[i][j];
        row_sums[i] = sum;
    }
    pthread_barrier_wait(&barrier);
    if (ME == 0)
        for (int i = 1; i < SIZE - 1; i++)
            total += row_sums[i];
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 10101010;

    arguments(argc, argv);
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            grid[i][j] = next_uniform(&state);
    for (int i = 0; i < SIZE; i++)
        row_sums[i] = 0;
    total = 0;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    team(threads, relaxer);
    pthread_barrier_destroy(&barrier);
    MUST(fabs(total / ((SIZE - 2.0) * (SIZE - 2.0)) - 0.5) < 0.02); /* the mean of the edge */
    printf("sor: %d sweeps, total %.9f\n", SWEEPS * scale, total);
    return 0;
}
