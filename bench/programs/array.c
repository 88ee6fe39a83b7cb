/*
 * array.c - threads update one array in turn; a lock that has nothing to do with it is handed over in
 * between.
 *
 * Comparison paper, table 2 (the row of 40 lines, which the text calls array; 2 threads): FastTrack 0,
 * AccuLock 1, SimpleLock+ 1, MultiLock-HB 1 (a true race), CP 0.
 *
 * Real: `cells`. Nothing makes a thread wait for its turn; the lock protects only a count of visits. In the
 * order seen, each turn's last visit comes before the next turn's first, and orders the updates between them.
 *
 * Detectors: the hybrids ignore lock order and report it. CP does not: both visits write `visits`, so their
 * critical sections conflict and are ordered. Eraser reports it, because no lock is held; MultiRace asks its
 * vector clocks once the lock set is empty, and they say ordered.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror
// OUTPUT: array: 64 visits, sum 364a0a1d235c2788
// NO RACE
#include "program.h"

enum { CELLS = 1024, TURNS = 32, PASSES = 90 };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static long visits; /* gate */
static uint64_t cells[CELLS];

static void visit(void)
{
    pthread_mutex_lock(&gate);
    visits++;
    pthread_mutex_unlock(&gate);
}

static void update(uint64_t turn)
{
    for (int pass = 0; pass < PASSES * scale; pass++)
        for (int k = 0; k < CELLS; k++)
            cells[k] = (cells[k] ^ (cells[k] >> 7)) * 31 + (uint64_t)k + turn; // HIDDEN RACE a
}

THREAD(worker)
{
    for (int turn = ME; turn < TURNS; turn += threads) {
        after(turn);
        visit();
        update((uint64_t)turn);
        visit();
        mark();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;
    long count;

    arguments(argc, argv);
    team(threads, worker);
    for (int k = 0; k < CELLS; k++)
        sum = sum * 33 + cells[k];
    pthread_mutex_lock(&gate);
    count = visits;
    pthread_mutex_unlock(&gate);
    MUST(count == 2 * TURNS);
    printf("array: %ld visits, sum %" PRIx64 "\n", count, sum);
    return 0;
}
