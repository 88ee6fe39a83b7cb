/*
 * montecarlo.c - prices a share by many random paths, whose drift and spread come from its history.
 *
 * FastTrack paper, table 1 (Java Grande montecarlo, 4 threads): 0 for all six. Comparison paper, table 2,
 * montecarlo-s: 0 for all five; table 3, montecarlo: 1 for all four. (Only the large programs are checked
 * there without telling the elements of an array apart; what the 1 is, it does not say. It is not recreated.)
 *
 * Real: none. Every path has a result of its own, and main reads the results after joining.
 *
 * False: none even from Eraser: a result is written by one thread and then only read.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror -lm
// OUTPUT: montecarlo: 600 paths, mean 101.055723
// NO RACE
#include "program.h"

#include <math.h>

enum { DAYS = 250, PATHS = 600 };

static double history[DAYS];              /* these three: by main before there is another thread */
static double drift, volatility;          /* a day */
static double results[PATHS * MAX_SCALE]; /* the price at the end of each path */

/* The mean and the spread of the logarithms of daily changes. */
static void estimate(void)
{
    double sum = 0, squares = 0;

    for (int i = 1; i < DAYS; i++) {
        double change = log(history[i] / history[i - 1]);

        sum += change;
        squares += change * change;
    }
    drift = sum / (DAYS - 1);
    volatility = sqrt(squares / (DAYS - 1) - drift * drift);
}

/* Two normal variates from two uniform ones (Box and Muller). */
static void normal_pair(uint64_t *state, double pair[2])
{
    double radius = sqrt(-2 * log(1 - next_uniform(state))), angle = 6.283185307179586 * next_uniform(state);

    pair[0] = radius * cos(angle);
    pair[1] = radius * sin(angle);
}

static double walk(long path)
{
    uint64_t state = (uint64_t)path * 977;
    double price[DAYS + 1], pair[2], last;

    price[0] = history[DAYS - 1];
    for (int day = 0; day < DAYS; day += 2) {
        normal_pair(&state, pair);
        price[day + 1] = price[day] * exp(drift + volatility * pair[0]);
        if (day + 2 <= DAYS)
            price[day + 2] = price[day + 1] * exp(drift + volatility * pair[1]);
    }
    last = price[DAYS];
    return last;
}

THREAD(pricer)
{
    long paths = (long)PATHS * scale;

    for (long path = ME; path < paths; path += threads)
        results[path] = walk(path);
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 1;
    double mean = 0, pair[2], expected;
    long paths;

    arguments(argc, argv);
    history[0] = 100;
    for (int i = 1; i < DAYS; i++) {
        normal_pair(&state, pair);
        history[i] = history[i - 1] * exp(0.0003 + 0.01 * pair[0]);
    }
    estimate();
    team(threads, pricer);
    paths = (long)PATHS * scale;
    for (long i = 0; i < paths; i++)
        mean += results[i] / (double)paths;
    /* What a lognormal walk grows to on average. */
    expected = history[DAYS - 1] * exp(DAYS * (drift + volatility * volatility / 2));
    MUST(fabs(mean / expected - 1) < 0.05);
    printf("montecarlo: %ld paths, mean %.6f\n", paths, mean);
    return 0;
}
