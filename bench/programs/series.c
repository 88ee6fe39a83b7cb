/*
 * series.c - the first Fourier coefficients of (x+1)^x between 0 and 2.
 *
 * FastTrack paper, table 1 (Java Grande series, 4 threads): Eraser 1, the other five 0.
 *
 * Real: none. A thread computes coefficients of its own.
 *
 * False, Eraser only: `coefficients`, which main clears before it creates the threads that fill it. That
 * creating a thread orders the two writes, Eraser does not know.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror -lm
// OUTPUT: series: 40 coefficients, sum 13.107894385
// NO RACE
#include "program.h"

#include <math.h>

enum { COUNT = 20, INTERVALS = 4000 };
#define PI 3.14159265358979323846

static double coefficients[COUNT * MAX_SCALE][2]; /* of cosine and sine */

static double function(double x, int n, int sine)
{
    double y = pow(x + 1, x);

    return sine ? y * sin(PI * n * x) : y * cos(PI * n * x);
}

/* The integral from 0 to 2 by the trapezoidal rule. */
static double integrate(int n, int sine)
{
    double dx = 2.0 / INTERVALS, sum = (function(0, n, sine) + function(2, n, sine)) / 2;

    for (int i = 1; i < INTERVALS; i++)
        sum += function(i * dx, n, sine);
    return sum * dx;
}

THREAD(analyst)
{
    for (int n = ME; n < COUNT * scale; n += threads) {
        coefficients[n][0] = integrate(n, 0) / (n == 0 ? 2 : 1);
        coefficients[n][1] = integrate(n, 1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    /* The first four pairs, integrated with many more and better steps. */
    static const double known[4][2] = {{2.88191813754, 0},
                                       {1.13403559567, -1.88209026502},
                                       {0.36222046987, -1.16480640928},
                                       {0.17031708266, -0.81470932068}};
    double sum = 0;

    arguments(argc, argv);
    for (int i = 0; i < COUNT * scale; i++)
        coefficients[i][0] = coefficients[i][1] = 0;
    team(threads, analyst);
    for (int i = 0; i < 4; i++)
        MUST(fabs(coefficients[i][0] - known[i][0]) < 1e-4 && fabs(coefficients[i][1] - known[i][1]) < 1e-4);
    for (int i = 0; i < COUNT * scale; i++)
        sum += fabs(coefficients[i][0]) + fabs(coefficients[i][1]);
    printf("series: %d coefficients, sum %.9f\n", 2 * COUNT * scale, sum);
    return 0;
}
