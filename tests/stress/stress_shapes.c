/*
 * stress_shapes.c - the engine as it is by default, against a definition of what a race is.
 *
 * As stress_oracle.c, but the threads are the kernel's, so that what a program that includes lard.h does without
 * is at work: reads that are looked at again, blocks of memory that one thread has to itself, parts of words that
 * are gathered (docs/design/engine.md), and a main thread that waits in join and so is not asked by the collector.
 * One thread at a time has its turn, makes some operations and gives the turn to another, by ways that are not
 * seen (unseen.h). Beside it runs the definition: every thread has its vector clock, every byte the time of each
 * thread's last access of each kind. Each program has fresh memory, whose blocks begin as one thread's.
 *
 * A program is divided into rounds. A race on a byte that has not raced in the round must be reported before the
 * operation ends; where parts of words wait, before the round does. Whatever is reported must be a race of the
 * round. At the end of a round all threads learn from all, and what has raced starts anew: less is promised of
 * what follows a race on a byte (docs/design/guarantee.md).
 *
 * Arguments: first seed, number of seeds. stress_shapes_many.c is the same with more threads than classes.
 *
 * FLAGS: -Wl,--wrap=dh_report_race -Wl,--wrap=dh_ids_want_collection -Wl,--wrap=dh_runtime_count
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
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
    THREADS = MANY ? 20 : 7, /* with the main thread, as many as there are classes; or more */
    BLOCK = 16384,
    BLOCKS = 4,
    ARENA = BLOCKS * BLOCK,
    SPOTS = 16, /* where threads meet */
    SYNCS = 6,  /* of them, that atomics use */
    LOCKS = 3,
    ROUNDS = 24,
    SEEDS = MANY ? 60 : 120,
    REPORTS = 1 << 16,
    EXPECTED = 1 << 16,
};
enum { EARLIER = 1, NOW };
enum kind { READ, WRITE, ATOMIC_READ, ATOMIC_WRITE, KINDS };

static unsigned char *arena;
static pthread_mutex_t mutexes[LOCKS + 1]; /* the last one: by which all learn from all */

/* ---- The definition. Whoever has the turn reads and writes it. ---- */

static struct player {
    pthread_t thread;
    bool alive, ended; /* ended: and not joined yet */
    unsigned now[THREADS];
    unsigned turns; /* how often it was its turn */
    unsigned given; /* how often it was given; assembly only */
    bool mixes;     /* it has yet to come to where parts are gathered */
    unsigned parts; /* of words, that it may have accessed */
} players[THREADS];

static uint16_t last[ARENA][KINDS][THREADS]; /* 0: never */
static unsigned char raced[ARENA];           /* 0: not in this round; NOW: in the operation under way */
static unsigned published[SYNCS][THREADS], released[LOCKS + 1][THREADS];
static int holder[LOCKS + 1]; /* thread + 1 */
static unsigned spots[SPOTS];
static struct {
    unsigned at, end;
} expected[EXPECTED]; /* races of this round, where parts are gathered */
static unsigned expecteds;
static unsigned char found[ARENA]; /* reported in this round */
static uint64_t state, seed;
static bool gathers;              /* threads gather parts */
static unsigned left, round_left; /* rounds of this program, operations of this round */
static unsigned share, roams;     /* of a hundred operations: synchronise, leave the own block */
static unsigned limit, meeting;   /* so many threads at most; turns until all have learned from all */
static bool any_found;

static uintptr_t reports[REPORTS];
static unsigned reports_n, reports_judged; /* the first by assembly only */

DH_UNTRACKED static void race_found(uintptr_t at)
{
    unsigned n = 1;
    __asm__ volatile("lock xaddl %0, %1" : "+r"(n), "+m"(reports_n) : : "memory", "cc");
    reports[n % REPORTS] = at;
}

DH_UNTRACKED static unsigned pick(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

DH_UNTRACKED static void learn(unsigned *clock, const unsigned *of)
{
    for (int i = 0; i < THREADS; i++)
        clock[i] = clock[i] > of[i] ? clock[i] : of[i];
}

/* One by one, in a way that no compiler makes a call of. */
DH_UNTRACKED static void copy(unsigned *clock, const unsigned *of)
{
    for (int i = 0; i < THREADS; i++) {
        clock[i] = of ? of[i] : 0;
        __asm__ volatile("" : : : "memory");
    }
}

DH_UNTRACKED static void fail(const char *what, int me, unsigned at)
{
    fprintf(stderr, "seed %lu, %u rounds left, %u operations left, thread %d, byte %u of block %u: %s\n",
            (unsigned long)seed, left, round_left, me, at % BLOCK, at / BLOCK, what);
    _exit(1);
}

DH_UNTRACKED static bool conflict(enum kind a, enum kind b)
{
    bool atomic = a >= ATOMIC_READ && b >= ATOMIC_READ, write = a % 2 == WRITE || b % 2 == WRITE;
    return write && !atomic;
}

DH_UNTRACKED static bool races(int me, unsigned at, enum kind kind)
{
    for (int k = 0; k < KINDS; k++)
        for (int who = 0; who < THREADS && conflict(kind, k); who++)
            if (who != me && last[at][k][who] > players[me].now[who])
                return true;
    return false;
}

/* Access [at, at + n). True: it shows the first race of the round on some byte. */
DH_UNTRACKED static bool note(int me, unsigned at, unsigned n, enum kind kind)
{
    bool first = false;
    for (unsigned b = at; b < at + n; b++) {
        bool race = races(me, b, kind);
        first = first || (race && !raced[b]);
        raced[b] = race ? NOW : raced[b];
        last[b][kind][me] = (uint16_t)players[me].now[me];
    }
    if (first && gathers) {
        CHECK(expecteds < EXPECTED);
        expected[expecteds].at = at & ~3u;
        expected[expecteds++].end = (at + n + 3) & ~3u;
    }
    return first;
}

/* What was reported since it was last asked. True: something in [at, end). */
DH_UNTRACKED static bool judge(int me, unsigned at, unsigned end)
{
    bool any = false;
    unsigned n;
    __asm__ volatile("movl %1, %0" : "=r"(n) : "m"(reports_n) : "memory");
    CHECK(n - reports_judged < REPORTS);
    for (; reports_judged != n; reports_judged++) {
        uintptr_t b = reports[reports_judged % REPORTS] - (uintptr_t)arena;
        if (b >= ARENA || !raced[b])
            fail("a false alarm", me, b < ARENA ? (unsigned)b : 0);
        found[b] = 1;
        any = any || (b >= at && b < end);
    }
    return any;
}

/* The operation is over; it touched bytes of [at, end). */
DH_UNTRACKED static void check(int me, unsigned at, unsigned end, bool first)
{
    bool any = judge(me, at, end);
    if (first && !any && !gathers)
        fail("a race was lost", me, at);
    for (unsigned b = at; b < end; b++) { /* of a range the first byte is reported */
        found[b] = found[b] || (any && raced[b] == NOW);
        raced[b] = raced[b] ? EARLIER : 0;
    }
    any_found = any_found || any;
}

/* ---- Operations. ---- */

/* Thread me accesses n parts of words, or fewer. Each makes at most one mixed word in each of two planes; a thread
 * that has made so many comes to gather parts by itself (dh_split_pressure). */
DH_UNTRACKED static void count_parts(int me, unsigned n)
{
    players[me].parts += n;
    gathers = gathers || players[me].parts > 4096 / 2;
}

DH_UNTRACKED static unsigned place(int me, unsigned room)
{
    unsigned kind = pick(100), block = pick(100) < roams ? pick(BLOCKS) : (unsigned)me % BLOCKS, at;
    if (kind < 75)
        at = spots[block * (SPOTS / BLOCKS) + pick(SPOTS / BLOCKS)] + pick(24);
    else
        at = block * BLOCK + pick(BLOCK);
    return at + room <= ARENA ? at : ARENA - room;
}

DH_UNTRACKED static void plain(int me)
{
    static const unsigned sizes[] = {1, 1, 2, 4, 4, 8, 8, 16}, elements[] = {1, 4, 8};
    static const enum shape shapes[] = {SINGLE, SINGLE, SINGLE, SINGLE, SINGLE,
                                        SINGLE, RANGE,  LOOP,   BYTES,  STRIDE};
    enum shape shape = shapes[pick(10)];
    bool write = pick(3) == 0, first = false;
    unsigned size = sizes[pick(8)], count = 1, step = 0, align = pick(2) ? size : 1;
    if (shape == RANGE)
        size = 1 + pick(pick(8) ? 200 : 3000);
    else if (shape == LOOP)
        size = 4 * (1 + pick(60)), align = 4;
    else if (shape == BYTES)
        size = 1 + pick(30);
    else if (shape == STRIDE)
        size = align = elements[pick(3)], count = 1 + pick(60), step = size * (1 + pick(pick(4) ? 6 : 40));
    unsigned room = count > 1 ? (count - 1) * step + size : size, at = place(me, room);
    at -= at % align;
    count_parts(me, shape == BYTES ? size : size == 1 ? count : 2);
    for (unsigned i = 0; i < count; i++)
        first = note(me, at + i * step, size, write ? WRITE : READ) || first;
    shape_access(shape, arena + at, size, step, count, write);
    check(me, at, at + room, first);
}

static __attribute__((noinline)) void atomic_store32(_Atomic uint32_t *p, bool ordered)
{
    if (ordered)
        atomic_store_explicit(p, 0, memory_order_release);
    else
        atomic_store_explicit(p, 0, memory_order_relaxed);
}

static __attribute__((noinline)) void atomic_load32(_Atomic uint32_t *p, bool ordered)
{
    if (ordered)
        (void)atomic_load_explicit(p, memory_order_acquire);
    else
        (void)atomic_load_explicit(p, memory_order_relaxed);
}

static __attribute__((noinline)) void atomic_add32(_Atomic uint32_t *p, bool ordered)
{
    if (ordered)
        atomic_fetch_add_explicit(p, 1, memory_order_acq_rel);
    else
        atomic_fetch_add_explicit(p, 1, memory_order_relaxed);
}

DH_UNTRACKED static void atomic(int me)
{
    struct player *t = &players[me];
    unsigned which = pick(SYNCS), at = spots[which * SPOTS / SYNCS] & ~3u, what = pick(3);
    _Atomic uint32_t *p = (_Atomic uint32_t *)(void *)(arena + at);
    bool ordered = pick(3) != 0;
    if (ordered && what != 0)
        learn(t->now, published[which]);
    bool first = note(me, at, 4, what == 1 ? ATOMIC_READ : ATOMIC_WRITE);
    if (what == 0)
        copy(published[which], NULL);
    if (what != 1 && ordered) {
        learn(published[which], t->now);
        t->now[me]++;
    }
    (what == 0 ? atomic_store32 : what == 1 ? atomic_load32 : atomic_add32)(p, ordered);
    check(me, at, at + 4, first);
}

DH_UNTRACKED static void take(int me, int lock)
{
    CHECK(pthread_mutex_lock(&mutexes[lock]) == 0);
    learn(players[me].now, released[lock]);
    holder[lock] = me + 1;
}

DH_UNTRACKED static void drop(int me, int lock)
{
    copy(released[lock], players[me].now);
    players[me].now[me]++;
    holder[lock] = 0;
    CHECK(pthread_mutex_unlock(&mutexes[lock]) == 0);
}

DH_UNTRACKED static void mutex(int me)
{
    int lock = (int)pick(LOCKS);
    if (!holder[lock])
        take(me, lock);
    else if (holder[lock] == me + 1)
        drop(me, lock);
}

/* Memory that is one thread's, from malloc to free, wherever it lies. */
DH_UNTRACKED static void heap(int me)
{
    size_t n = 1 + pick(pick(4) ? 300 : 20000), at = pick((unsigned)n);
    unsigned char *p = malloc(n);
    CHECK(p);
    count_parts(me, 22);
    shape_access(RANGE, p, n, 0, 1, true);
    shape_access(BYTES, p + at, n - at < 20 ? n - at : 20, 0, 1, pick(2));
    free(p);
    check(me, 0, 0, false);
}

static void *play(void *arg);

DH_UNTRACKED static bool holds(int me)
{
    return holder[0] == me + 1 || holder[1] == me + 1 || holder[2] == me + 1;
}

DH_UNTRACKED static void join(int me, int other)
{
    CHECK(pthread_join(players[other].thread, NULL) == 0);
    learn(players[me].now, players[other].now);
    players[other].ended = false;
}

/* A thread begins where there is room, or is joined. Its times go on in the next one that has its number, whose
 * creator knows of its end. */
DH_UNTRACKED static void life(int me)
{
    int other = 1 + (int)pick(limit - 1);
    struct player *t = &players[me], *o = &players[other];
    if (other == me || o->alive || (!MANY && me != 0)) /* one who knows of all ends needs fewest slots */
        return;
    if (o->ended) {
        join(me, other);
    } else if (t->now[other] >= o->now[other]) {
        unsigned was = o->now[other];
        copy(o->now, t->now);
        o->now[other] = was + 1;
        o->alive = true;
        o->mixes = gathers;
        o->parts = 0;
        t->now[me]++;
        CHECK(pthread_create(&o->thread, NULL, play, (void *)(intptr_t)other) == 0);
    }
}

DH_UNTRACKED static void operate(int me)
{
    unsigned what = pick(100);
    if (what >= share)
        plain(me);
    else if (what % 8 < 3)
        mutex(me);
    else if (what % 8 < 6)
        atomic(me);
    else if (what % 8 < 7)
        life(me);
    else
        heap(me);
}

/* ---- Rounds and turns. ---- */

/* All have learned from all, and nothing waits to be recorded any more. */
DH_UNTRACKED static void end_round(int me)
{
    judge(me, 0, 0);
    for (unsigned i = 0; i < expecteds; i++) {
        bool any = false;
        for (unsigned b = expected[i].at; b < expected[i].end; b++)
            any = any || found[b];
        if (!any)
            fail("a race was lost", me, expected[i].at);
        any_found = true;
    }
    expecteds = 0;
    for (unsigned b = 0; b < ARENA; b++) {
        raced[b] = found[b] = 0;
        __asm__ volatile("" : : : "memory");
    }
    round_left = 30 + pick(400);
    limit = MANY && left > ROUNDS * 2 / 3 ? 6 : THREADS;
    left--;
}

DH_UNTRACKED static void meet(int me)
{
    for (int i = 0; i < THREADS && meeting > 0; i++)
        if (players[i].ended)
            join(me, i);
    take(me, LOCKS);
    drop(me, LOCKS);
    if (--meeting == 0)
        end_round(me);
}

static pthread_mutex_t own_locks[THREADS];
static unsigned char own_bytes[THREADS][8192];
static int mixer; /* whose turn it is */

DH_UNTRACKED static void own_epoch(void)
{
    CHECK(pthread_mutex_lock(&own_locks[mixer]) == 0 && pthread_mutex_unlock(&own_locks[mixer]) == 0);
}

/* The program is over. The first thread is the last to leave. */
DH_UNTRACKED static bool leave(int me)
{
    bool others = false;
    for (int i = 0; i < LOCKS; i++)
        if (holder[i] == me + 1)
            drop(me, i);
    for (int i = 1; i < THREADS; i++)
        others = others || players[i].alive;
    for (int i = 1; i < THREADS && me == 0 && !others; i++)
        if (players[i].ended)
            join(me, i);
    return me == 0 && others;
}

/* It is thread me's turn. False: it ends. */
DH_UNTRACKED static bool turn(int me)
{
    struct player *t = &players[me];
    if (t->mixes) {
        mixer = me;
        shape_mix(own_bytes[me], sizeof(own_bytes[me]), own_epoch);
        t->mixes = 0;
    }
    if (meeting > 0) {
        meet(me);
        return true;
    }
    for (unsigned n = 1 + pick(12); n > 0 && left > 0 && round_left > 0; n--, round_left--)
        operate(me);
    if (left > 0 && round_left == 0)
        for (int i = 0; i < THREADS; i++)
            meeting += players[i].alive ? 2 : 0; /* by the second time all know what the last one did */
    return left > 0 ? me == 0 || meeting > 0 || holds(me) || pick(100) > 0 : leave(me);
}

/* Who is next (one at least is alive): the first one after `me`, by turns when all meet, else at random. */
DH_UNTRACKED static int next(int me)
{
    int i = meeting > 0 || left == 0 ? me : (int)pick(THREADS);
    do
        i = (i + 1) % THREADS;
    while (!players[i].alive);
    return i;
}

DH_UNTRACKED static void *play(void *arg)
{
    int me = (int)(intptr_t)arg;
    struct player *t = &players[me];
    bool stays = true;
    while (stays) {
        unseen_wait(&t->given, ++t->turns);
        stays = turn(me);
        t->alive = stays;
        t->ended = !stays && me != 0;
        if (stays || me != 0)
            unseen_wake(&players[next(me)].given);
    }
    return NULL;
}

/* ---- One program. ---- */

extern bool dh_pending_on; /* reads are looked at again, and blocks can be one thread's (pending.h) */

DH_UNTRACKED static void begin(void)
{
    static uintptr_t room, end; /* memory that no program before has used */
    state = seed * 0x9E3779B97F4A7C15u + 1;
    if (end - room < ARENA) {
        room = (uintptr_t)mmap(NULL, 64 * ARENA, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        CHECK((void *)room != MAP_FAILED);
        end = room + 64 * ARENA;
        room += BLOCK - 1 - (room - 1) % BLOCK;
    }
    arena = (unsigned char *)room;
    room += ARENA;
    memset(last, 0, sizeof(last));
    memset(raced, 0, sizeof(raced));
    memset(published, 0, sizeof(published));
    memset(released, 0, sizeof(released));
    for (int i = 0; i < THREADS; i++) {
        players[i].alive = players[i].ended = false;
        memset(players[i].now, 0, sizeof(players[i].now));
        CHECK(pthread_mutex_init(&own_locks[i], NULL) == 0);
    }
    for (int i = 0; i <= LOCKS; i++)
        CHECK(pthread_mutex_init(&mutexes[i], NULL) == 0);
    for (unsigned i = 0; i < SPOTS; i++)
        spots[i] = i / (SPOTS / BLOCKS) * BLOCK + (i % (SPOTS / BLOCKS) ? pick(BLOCK - 64) : BLOCK - 16);
    gathers = pick(2);
    share = 1 + pick(60);
    roams = pick(2) ? pick(100) : pick(10);
    collect_every = pick(3) ? 32 + pick(200) : 0;
    left = ROUNDS + 1;
    players[0].alive = true;
    players[0].now[0] = 1;
    players[0].mixes = gathers;
    players[0].parts = 0;
    end_round(0);
}

DH_UNTRACKED static void program(void)
{
    begin();
    CHECK(dh_pending_on);
    CHECK(pthread_create(&players[0].thread, NULL, play, NULL) == 0);
    unseen_wake(&players[0].given);
    CHECK(pthread_join(players[0].thread, NULL) == 0);
    judge(0, 0, 0);
    CHECK(dh_pending_on);
}

DH_UNTRACKED int main(int argc, char **argv)
{
    uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 0) : SEEDS;
    cpu_set_t one;
    /* The threads take turns, which is faster on one processor. */
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    for (; n > 0; n--, seed++)
        program();
    CHECK(any_found && planes_shared == MANY && planes_inherited == MANY); /* else it has shown nothing */
    puts("OK");
    return 0;
}
