/*
 * mergesort.c - threads sort a part each, then pairs of parts are merged, a new team for every level.
 *
 * Comparison paper, table 2 (298 lines, 5 threads): FastTrack 1, AccuLock 1, SimpleLock+ 0, MultiLock-HB 1,
 * CP 1.
 *
 * Real: `sorted`, the count of values sorted. Every thread holds a lock when it adds to it, but a lock of its
 * own, which keeps nobody out.
 *
 * Detectors: SimpleLock+ only reports a race with an access that holds no lock at all, and misses it. Eraser
 * and MultiRace need a third thread to see it: the first one's lock set is not looked at.
 *
 * False, Eraser only: `values` and `scratch` are handed from main to the sorters and from team to team by
 * creating and joining threads, which it knows nothing of: 3 in all.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror
// OUTPUT: mergesort: 30000 values, sum b79d625d7154b090
#include "program.h"

#include <string.h>

enum { VALUES = 30000 };

static uint32_t values[VALUES * MAX_SCALE], scratch[VALUES * MAX_SCALE];
static pthread_mutex_t own_lock[MAX_THREADS];
static long sorted;
static long total; /* written by main before there is another thread */

static void merge(long from, long middle, long to)
{
    long i = from, j = middle;

    for (long k = from; k < to; k++)
        scratch[k] = j == to || (i < middle && values[i] <= values[j]) ? values[i++] : values[j++];
    memcpy(&values[from], &scratch[from], (size_t)(to - from) * sizeof(values[0]));
}

static void sort(long from, long to)
{
    long middle = from + (to - from) / 2;

    if (to - from < 2)
        return;
    sort(from, middle);
    sort(middle, to);
    merge(from, middle, to);
}

THREAD(sorter)
{
    int me = ME;
    long from = part(total, me, threads), to = part(total, me + 1, threads);

    sort(from, to);
    mark();
    after(threads + me);
    pthread_mutex_lock(&own_lock[me]);
    sorted += to - from; // RACE a
    pthread_mutex_unlock(&own_lock[me]);
    mark();
    return NULL;
}

/* The argument is the first part and, times MAX_THREADS, how many parts lie on each side. */
THREAD(merger)
{
    int first = ME % MAX_THREADS, step = ME / MAX_THREADS;
    int end = first + 2 * step < threads ? first + 2 * step : threads;

    merge(part(total, first, threads), part(total, first + step, threads), part(total, end, threads));
    return NULL;
}

static void merge_level(int step)
{
    pthread_t t[MAX_THREADS];
    int n = 0;

    for (int first = 0; first + step < threads; first += 2 * step)
        t[n++] = spawn(merger, (void *)(intptr_t)(first + step * MAX_THREADS));
    while (n > 0)
        join(t[--n]);
}

int main(int argc, char **argv)
{
    uint64_t state = 11, sum = 0;

    arguments(argc, argv);
    total = (long)VALUES * scale;
    for (long i = 0; i < total; i++)
        values[i] = next_random(&state);
    for (int i = 0; i < threads; i++)
        pthread_mutex_init(&own_lock[i], NULL);
    team(threads, sorter);
    for (int step = 1; step < threads; step *= 2)
        merge_level(step);
    for (long i = 0; i < total; i++) {
        MUST(i == 0 || values[i - 1] <= values[i]);
        sum = sum * 33 + values[i];
    }
    MUST(sorted == total);
    printf("mergesort: %ld values, sum %" PRIx64 "\n", total, sum);
    return 0;
}
