/*
 * bubblesort.c - threads take turns at the passes of a bubble sort; no lock protects the array.
 *
 * Comparison paper, table 2 (274 lines, 26 threads): 2 for FastTrack, AccuLock, SimpleLock+, MultiLock-HB and
 * CP.
 *
 * Real: `values`, the array, and `swaps`, the count of exchanges. Only the invisible order keeps two
 * threads from sorting at the same place.
 *
 * Detectors: all find both. The work grows with the square of the scale.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror
// OUTPUT: bubblesort: 260 values, 16143 swaps, sum 950865810b197892
#include "program.h"

enum { VALUES = 260, TURNS = 64 };

static uint32_t values[VALUES * MAX_SCALE];
static long swaps;

/* Passes from first to end; after pass p the p+1 largest values are in place. */
static long sort_passes(long n, long first, long end)
{
    uint32_t *v = values, a, b;
    long swapped = 0;

    for (long pass = first; pass < end; pass++)
        for (long i = 0; i + 1 < n - pass; i++) {
            /* One line for reading and writing both: the race is this line with itself. */
            // clang-format off
            a = v[i], b = v[i + 1], v[i] = a < b ? a : b, v[i + 1] = a < b ? b : a; // RACE a
            // clang-format on
            __asm__ volatile("" : : : "memory"); /* else reads move to a line of their own */
            swapped += a > b;
        }
    return swapped;
}

THREAD(sorter)
{
    long n = (long)VALUES * scale;

    for (int turn = ME; turn < TURNS; turn += threads) {
        after(turn);
        swaps += sort_passes(n, part(n, turn, TURNS), part(n, turn + 1, TURNS)); // RACE b
        mark();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 7, sum = 0;
    long n;

    arguments(argc, argv);
    n = (long)VALUES * scale;
    for (long i = 0; i < n; i++)
        values[i] = next_random(&state);
    team(threads, sorter);
    for (long i = 0; i < n; i++) {
        MUST(i == 0 || values[i - 1] <= values[i]);
        sum = sum * 33 + values[i];
    }
    printf("bubblesort: %ld values, %ld swaps, sum %" PRIx64 "\n", n, swaps, sum);
    return 0;
}
