/*
 * lufact.c - LU factorisation with partial pivoting of a matrix in columns, then the solution of A x = b.
 *
 * FastTrack paper, table 1 (Java Grande lufact, 4 threads): Eraser 4, MultiRace 0, Goldilocks ran out of
 * memory, BasicVC, Djit+ and FastTrack 0.
 *
 * Real: none. The owner of column k chooses the pivot and scales the column; a barrier; everybody
 * updates the columns that it owns; a barrier.
 *
 * False, Eraser only, which knows neither fork nor barrier: `a`, `b` and `pivots`, written by main and then
 * by the threads, and `pivot_row`, written by the owner of each column in turn: 4. The other lock set
 * detectors have an order of their own for barriers.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror -lm
// OUTPUT: lufact: order 110, 104 rows exchanged, sum 3022.184695
// NO RACE
#include "program.h"

#include <math.h>

enum { SMALLEST = 100, STEP = 10, LARGEST = SMALLEST + STEP * MAX_SCALE };

static double a[LARGEST][LARGEST]; /* a[column][row] */
static double b[LARGEST];
static int pivots[LARGEST];
static int pivot_row; /* of the column at hand */
static pthread_barrier_t barrier;
static int n;

static double element(int row, int column)
{
    uint64_t state = (uint64_t)row * LARGEST + (uint64_t)column;

    next_random(&state);
    return next_uniform(&state) - 0.5;
}

static void choose_pivot(int k)
{
    double *column = a[k], swap;
    int best = k;

    for (int i = k + 1; i < n; i++)
        if (fabs(column[i]) > fabs(column[best]))
            best = i;
    pivot_row = best;
    pivots[k] = best;
    swap = column[best];
    column[best] = column[k];
    column[k] = swap;
    for (int i = k + 1; i < n; i++)
        column[i] /= swap;
}

/* What step k does to any other column, of the matrix or the right hand side. */
static void update(double *column, int k)
{
    double value = column[pivot_row];

    column[pivot_row] = column[k];
    column[k] = value;
    for (int i = k + 1; i < n; i++)
        column[i] -= value * a[k][i];
}

THREAD(worker)
{
    int me = ME;

    for (int k = 0; k < n; k++) {
        if (k % threads == me)
            choose_pivot(k);
        pthread_barrier_wait(&barrier);
        for (int j = k + 1; j < n; j++)
            if (j % threads == me)
                update(a[j], k);
        if (n % threads == me) /* b is column n */
            update(b, k);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

/* Column by column, from the last; b becomes x. */
static void solve(void)
{
    for (int k = n - 1; k >= 0; k--) {
        b[k] /= a[k][k];
        for (int i = 0; i < k; i++)
            b[i] -= b[k] * a[k][i];
    }
}

int main(int argc, char **argv)
{
    double residual = 0, sum = 0;
    long moved = 0;

    arguments(argc, argv);
    n = SMALLEST + STEP * scale;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[j][i] = element(i, j);
    for (int i = 0; i < n; i++) {
        b[i] = 1;
        pivots[i] = i;
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    team(threads, worker);
    pthread_barrier_destroy(&barrier);
    solve();
    for (int i = 0; i < n; i++) {
        double row = -1;

        for (int j = 0; j < n; j++)
            row += element(i, j) * b[j];
        residual = fmax(residual, fabs(row));
        sum += fabs(b[i]);
        moved += pivots[i] != i;
    }
    MUST(residual < 1e-6);
    printf("lufact: order %d, %ld rows exchanged, sum %.6f\n", n, moved, sum);
    return 0;
}
