/*
 * stress_revoke.c - memory that one thread has to itself, until another one comes: is every race found, and no other?
 *
 * Owners go through their blocks of memory at full speed, in all shapes (shapes.h), while visitors come to each
 * block once, at any moment, and make one access there. Until then the block is the owner's alone (exclusive.h), and
 * the visitor takes that from it under its hands. On three of four blocks nothing orders the two: since the owner
 * writes every byte of every block, at least one sweep of it races with the visit, and the block must be reported.
 * On the others both hold the block's lock, and nothing may be. An owner that gathers parts of words (parts.h)
 * sweeps by bytes too. In between it hands a lock to and fro with a partner, who knows nothing of visitors: what waits
 * to be recorded is recorded then. Numbers are collected all the time, while the main thread waits in join.
 *
 * Arguments: number of rounds. stress_revoke_many.c is the same with more threads than classes.
 *
 * FLAGS: -Wl,--wrap=dh_report_race -Wl,--wrap=dh_ids_want_collection -Wl,--wrap=dh_runtime_count
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "planes.h"
#include "shapes.h"
#include "unseen.h"

#ifndef MANY
#define MANY 0
#endif

enum {
    OWNERS = 2,
    VISITORS = MANY ? 12 : 3, /* with owners, partner and main thread fewer than there are classes; or more */
    BLOCK = 16384,
    BLOCKS = 48, /* in a round; each owner has half of them */
    ROUNDS = MANY ? 30 : 50,
    PIECE = 1024, /* of a block, between two looks at the lock that is handed round */
};

static unsigned char *memory; /* BLOCKS of them, used by no round before */
static pthread_mutex_t guards[BLOCKS], handed = PTHREAD_MUTEX_INITIALIZER;
static unsigned handed_count; /* under `handed` */
static unsigned char reported[BLOCKS];
static unsigned ready;   /* threads that have begun; woken */
static unsigned visited; /* visits made; woken */
static unsigned begun;   /* visitors; woken */
static unsigned seed;

static void race_found(uintptr_t at);
DH_UNTRACKED static void race_found(uintptr_t at)
{
    if (at - (uintptr_t)memory < BLOCKS * BLOCK)
        reported[(at - (uintptr_t)memory) / BLOCK] = 1;
}

DH_UNTRACKED static bool is_reported(int block)
{
    return reported[block];
}

static unsigned pick(uint64_t *state, unsigned n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33) % n;
}

static bool is_guarded(int block)
{
    return (block + seed) % 4 == 0;
}

/* Who takes locks is ordered by them on all blocks, so one visitor does, and the others do not. */
static int visitor_of(int block)
{
    return is_guarded(block) ? VISITORS - 1 : block % (VISITORS - 1);
}

static void hand_round(void)
{
    CHECK(pthread_mutex_lock(&handed) == 0);
    handed_count++;
    CHECK(pthread_mutex_unlock(&handed) == 0);
}

/* All of a block, in pieces, each in another shape. */
static void sweep(unsigned char *block, uint64_t *state, bool bytes)
{
    for (unsigned at = 0; at < BLOCK; at += PIECE) {
        unsigned char *p = block + at;
        switch (pick(state, bytes ? 5 : 4)) {
        case 0:
            shape_access(RANGE, p, PIECE, 0, 1, true);
            break;
        case 1:
            shape_access(LOOP, p, PIECE, 0, 1, true);
            break;
        case 2:
            for (unsigned k = 0; k < 16; k += 8)
                shape_access(STRIDE, p + k, 8, 16, PIECE / 16, true);
            break;
        case 3:
            for (unsigned k = 0; k < PIECE; k += 8)
                shape_access(SINGLE, p + k, 8, 0, 1, true);
            break;
        default:
            shape_access(BYTES, p, PIECE, 0, 1, true);
        }
        if (pick(state, 8) == 0)
            hand_round();
    }
}

static unsigned char own_bytes[OWNERS][8192];
static pthread_mutex_t own_locks[OWNERS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static _Thread_local int owner;

static void own_epoch(void)
{
    CHECK(pthread_mutex_lock(&own_locks[owner]) == 0 && pthread_mutex_unlock(&own_locks[owner]) == 0);
}

DH_UNTRACKED static bool all_visited(void)
{
    unsigned seen;
    __asm__ volatile("movl %1, %0" : "=r"(seen) : "m"(visited) : "memory");
    return seen == BLOCKS;
}

/* Sweep after sweep, until all visits have been made: the last one may come before or after a visit. */
static void *own(void *arg)
{
    uint64_t state = seed * 16 + (uint64_t)(uintptr_t)arg;
    owner = (int)(intptr_t)arg;
    bool gathers = (seed + (unsigned)owner) % 2;
    if (gathers)
        shape_mix(own_bytes[owner], sizeof(own_bytes[owner]), own_epoch);
    unseen_wake(&ready);
    bool last;
    do {
        last = all_visited();
        for (int b = owner; b < BLOCKS; b += OWNERS) {
            if (is_guarded(b))
                CHECK(pthread_mutex_lock(&guards[b]) == 0);
            sweep(memory + (size_t)b * BLOCK, &state, gathers);
            if (is_guarded(b))
                CHECK(pthread_mutex_unlock(&guards[b]) == 0);
        }
    } while (!last && seed % 3);
    return NULL;
}

static void *partner(void *arg)
{
    (void)arg;
    unseen_wake(&ready);
    while (!all_visited())
        hand_round();
    return NULL;
}

static void *visit(void *arg)
{
    int me = (int)(intptr_t)arg;
    uint64_t state = seed * 16 + 7 + (uint64_t)me;
    static const unsigned sizes[] = {1, 2, 4, 8, 16};
    unseen_wake(&begun);
    if (!MANY || me == 0)
        unseen_wait(&ready, OWNERS + 1);
    for (int b = 0; b < BLOCKS; b++) {
        if (visitor_of(b) != me)
            continue;
        unsigned size = pick(&state, 4) ? sizes[pick(&state, 5)] : 1 + pick(&state, 300);
        unsigned char *p = memory + (size_t)b * BLOCK + pick(&state, BLOCK - size + 1);
        enum shape shape = size <= 16 && (size & (size - 1)) == 0 ? SINGLE : RANGE;
        for (unsigned wait = pick(&state, 4000); wait > 0; wait--)
            __asm__ volatile("pause");
        if (is_guarded(b))
            CHECK(pthread_mutex_lock(&guards[b]) == 0);
        shape_access(shape, p, size, 0, 1, pick(&state, 2));
        if (is_guarded(b))
            CHECK(pthread_mutex_unlock(&guards[b]) == 0);
        unseen_wake(&visited);
    }
    unseen_wait(&begun, VISITORS); /* so that all are there at once, however busy the machine is */
    return NULL;
}

extern bool dh_pending_on; /* blocks can be one thread's (pending.h) */

static int one_round(void)
{
    pthread_t t[OWNERS + 1 + VISITORS];
    int n = 0, wrong = 0;
    for (intptr_t i = 0; i < OWNERS; i++)
        CHECK(pthread_create(&t[n++], NULL, own, (void *)i) == 0);
    CHECK(pthread_create(&t[n++], NULL, partner, NULL) == 0);
    for (intptr_t i = 0; i < VISITORS; i++)
        CHECK(pthread_create(&t[n++], NULL, visit, (void *)i) == 0);
    while (n > 0)
        CHECK(pthread_join(t[--n], NULL) == 0);
    for (int b = 0; b < BLOCKS; b++)
        if (is_reported(b) == is_guarded(b) && wrong++ < 10)
            fprintf(stderr, "round %u, block %d: %s\n", seed, b,
                    is_guarded(b) ? "a false alarm" : "a race was lost");
    return wrong;
}

DH_UNTRACKED static void begin(size_t round)
{
    static unsigned char *room;
    if (!room)
        room = mmap(NULL, (size_t)(ROUNDS + 1) * BLOCKS * BLOCK, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK((void *)room != MAP_FAILED);
    memory = room + BLOCK - 1 - ((uintptr_t)room - 1) % BLOCK + round * BLOCKS * BLOCK;
    ready = visited = begun = 0;
    collect_every = seed % 2 ? 64 : 0;
    for (int b = 0; b < BLOCKS; b++)
        reported[b] = 0;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : ROUNDS;
    seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    for (int b = 0; b < BLOCKS; b++)
        CHECK(pthread_mutex_init(&guards[b], NULL) == 0);
    for (unsigned r = 0; r < rounds; r++, seed++) {
        begin(r % ROUNDS);
        CHECK(dh_pending_on);
        if (one_round() != 0)
            return 1;
    }
    CHECK(dh_pending_on && planes_shared == MANY); /* else it has shown nothing */
    puts("OK");
    return 0;
}
