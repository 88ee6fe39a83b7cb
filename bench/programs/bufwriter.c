/*
 * bufwriter.c - writers append text to one buffer and flush it when it is full.
 *
 * Comparison paper, table 2 (199 lines, 5 threads): FastTrack 2, AccuLock 4, SimpleLock+ 4, MultiLock-HB 4
 * (all four true), CP 2.
 *
 * Real, and seen by all: `writers`, which every writer raises as it begins, and `bytes`, to which it adds as
 * it ends, both without a lock.
 *
 * Real, but hidden by the order seen: `buffer` and `fill`. A writer's turn at them lies between two
 * critical sections that only count the turns; the last one of a turn comes before the first one of the next,
 * so happens-before orders the turns, though nothing makes a writer wait for its own.
 *
 * Detectors: the hybrids ignore lock order and find the two more. CP does not: the critical sections write
 * `turns` and conflict, hence are ordered. Eraser finds four, since no lock is held at any of them; MultiRace
 * asks its clocks and finds two.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror
// OUTPUT: bufwriter: 309372 bytes, digest ad0fd86b8e408d91
#include "program.h"

enum { BUFFER = 4096, TURNS = 64, LINES = 450 };

static pthread_mutex_t turns_lock = PTHREAD_MUTEX_INITIALIZER;
static long turns; /* turns_lock */
static char buffer[BUFFER];
static int fill;
static long writers, bytes;
static uint64_t digests[TURNS]; /* what each turn has flushed */

static void count_turn(void)
{
    pthread_mutex_lock(&turns_lock);
    turns++;
    pthread_mutex_unlock(&turns_lock);
}

/* Empties the buffer into the digest, which stands for the file. */
static uint64_t flush(uint64_t digest)
{
    for (int i = 0; i < fill; i++)                                     // HIDDEN RACE c
        digest = (digest ^ (unsigned char)buffer[i]) * 1099511628211u; // HIDDEN RACE d
    fill = 0;                                                          // HIDDEN RACE e
    return digest;
}

static uint64_t put(uint64_t digest, char c)
{
    buffer[fill++] = c; // HIDDEN RACE c d e f
    return fill == BUFFER ? flush(digest) : digest;
}

/* Lines of text: numbers, in decimal. */
static long write_lines(int turn)
{
    uint64_t state = (uint64_t)turn, digest = 14695981039346656037u;
    long written = 0;

    for (long i = 0; i < (long)LINES * scale; i++) {
        char line[16];
        int n = snprintf(line, sizeof(line), "%u\n", next_random(&state));

        for (int k = 0; k < n; k++)
            digest = put(digest, line[k]);
        written += n;
    }
    digests[turn] = flush(digest);
    return written;
}

THREAD(writer)
{
    long written = 0;

    after(ME);
    writers++; // RACE a
    mark();
    for (int turn = ME; turn < TURNS; turn += threads) {
        after(threads + turn);
        count_turn();
        written += write_lines(turn);
        count_turn();
        mark();
    }
    after(threads + TURNS + ME);
    bytes += written; // RACE b
    mark();
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t digest = 0;

    arguments(argc, argv);
    team(threads, writer);
    for (int i = 0; i < TURNS; i++)
        digest = digest * 33 + digests[i];
    MUST(writers == threads);
    printf("bufwriter: %ld bytes, digest %" PRIx64 "\n", bytes, digest);
    return 0;
}
