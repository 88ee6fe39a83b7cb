/*
 * sparse.c - multiplies a sparse matrix by a vector, over and over, and adds up the products.
 *
 * FastTrack paper, table 1 (Java Grande sparse, 4 threads): 0 for all six.
 *
 * Real: none. A thread owns the rows it computes.
 *
 * False: none even from Eraser: matrix and vector are written by main and then only read, and an element of
 * the product is written by its thread only; main reads it after joining.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror -lm
// OUTPUT: sparse: 2475 elements, total 751820.7060
// NO RACE
#include "program.h"

#include <math.h>

enum { ROWS = 500, IN_ROW = 5, TIMES = 1200 };

static int first_in_row[ROWS * MAX_SCALE + 1]; /* these four: by main before there is another thread */
static int column[ROWS * MAX_SCALE * IN_ROW * 2];
static double value[ROWS * MAX_SCALE * IN_ROW * 2];
static double x[ROWS * MAX_SCALE];
static double y[ROWS * MAX_SCALE]; /* by the thread that has the row */

/* A row has as many elements as chance gives it, from one to nine. */
static int build(int rows)
{
    uint64_t state = 10101010;
    int n = 0;

    for (int i = 0; i < rows; i++) {
        int in_row = 1 + (int)(next_random(&state) % (2 * IN_ROW - 1));

        x[i] = next_uniform(&state);
        first_in_row[i] = n;
        for (int k = 0; k < in_row; k++) {
            column[n] = (int)(next_random(&state) % (uint32_t)rows);
            value[n++] = next_uniform(&state);
        }
    }
    first_in_row[rows] = n;
    return n;
}

THREAD(multiplier)
{
    int rows = ROWS * scale, from = (int)part(rows, ME, threads), to = (int)part(rows, ME + 1, threads);

    for (int again = 0; again < TIMES; again++)
        for (int i = from; i < to; i++) {
            double sum = 0;

            for (int k = first_in_row[i]; k < first_in_row[i + 1]; k++)
                sum += value[k] * x[column[k]];
            y[i] += sum;
        }
    return NULL;
}

int main(int argc, char **argv)
{
    double total = 0, expected = 0;
    int n;

    arguments(argc, argv);
    n = build(ROWS * scale);
    team(threads, multiplier);
    for (int i = 0; i < ROWS * scale; i++)
        total += y[i];
    for (int k = 0; k < n; k++)
        expected += value[k] * x[column[k]] * TIMES;
    MUST(fabs(total / expected - 1) < 1e-9);
    printf("sparse: %d elements, total %.4f\n", n, total);
    return 0;
}
