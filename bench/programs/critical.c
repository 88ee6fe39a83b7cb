/*
 * critical.c - a critical section guarded by a plain variable that says whose turn it is.
 *
 * Comparison paper, table 2 (63 lines, 3 threads): 1 for FastTrack, AccuLock, SimpleLock+, MultiLock-HB and
 * CP.
 *
 * Real: `turn`. Whoever leaves the section passes the turn on; whoever enters reads it; no lock, no
 * atomic. The original spins on it; here the invisible order stands for the spinning, so that an optimised
 * build ends too.
 *
 * Detectors: all find it: every access is a write by another thread with no lock held. What the section
 * protects are slots written once each, hence no second race.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror
// OUTPUT: critical: 320 entries, sum 97270c430cda1d04
#include "program.h"

enum { ENTRIES = 320, WORK = 8000 };

struct entry {
    int process;
    uint64_t found;
};

static int turn;
static struct entry section_log[ENTRIES]; /* one slot an entry */

/* True when the turn was this process's; it is passed on in the same line, for the race to be one. */
static int take_turn(int me, int next)
{
    int was;

    was = turn, turn = next; // RACE a
    return was == me;
}

THREAD(process)
{
    int me = ME, next = (me + 1) % threads;

    for (int entry = me; entry < ENTRIES; entry += threads) {
        uint64_t found = churn((uint64_t)entry, (long)WORK * scale);

        after(entry);
        MUST(take_turn(me, next));
        section_log[entry] = (struct entry){me, found};
        mark();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;

    arguments(argc, argv);
    team(threads, process);
    MUST(turn == ENTRIES % threads);
    for (int i = 0; i < ENTRIES; i++) {
        MUST(section_log[i].process == i % threads);
        sum = sum * 33 + section_log[i].found;
    }
    printf("critical: %d entries, sum %" PRIx64 "\n", ENTRIES, sum);
    return 0;
}
