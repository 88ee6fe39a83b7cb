/*
 * stress_oracle.c - the engine against a definition of what a race is, on random programs.
 *
 * One kernel thread plays up to eight logical ones (lard.h), one operation after another: accesses of every size
 * and alignment, ranges, atomics of every order, fences, mutexes, reader-writer locks, threads that begin, end
 * and are joined, histories that are cleared and copied. Beside it runs the definition, as plainly as it can be
 * written: every thread has its vector clock, every byte the time of each thread's last access of each kind, and
 * two accesses race if they conflict and neither clock knows the other. What the engine says of an operation
 * must be what the definition says, at every operation. After a race the bytes of the access that showed it are
 * cleared on both sides, since less is promised of what follows a race on them (docs/design/guarantee.md).
 *
 * As stress_lossless.c it takes the place of the function that reports, and of the one that asks whether numbers
 * are to be collected (docs/design/collector.md). Of what happens at the same instant it knows nothing: that is
 * stress_lossless.c's. Arguments: first seed, number of seeds.
 *
 * stress_sample.c is the same with sampling periods, which begin and end at random: what was accessed outside them
 * must never show, and what was accessed inside must, as long as nothing has come that may drop it
 * (docs/design/sampling.md).
 *
 * FLAGS: -Wl,--wrap=dh_report_race -Wl,--wrap=dh_ids_want_collection
 */
#include <deadheat/deadheat.h>
#include <deadheat/lard.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "stress.h"

#ifndef SAMPLED
#define SAMPLED 0
#endif

enum { THREADS = 8, ARENA = 320, MUCH_READ = 304, LOCKS = 3, STEPS = 4000, SEEDS = 300 };
enum kind { READ, WRITE, ATOMIC_READ, ATOMIC_WRITE, KINDS };

static unsigned char arena[ARENA] __attribute__((aligned(64)));
static pthread_mutex_t mutexes[LOCKS];
static pthread_rwlock_t rwlocks[LOCKS];

/* ---- The definition. None of its memory is seen by the engine. ---- */

struct clock {
    unsigned at[THREADS];
};

static struct player {
    dh_lard_thread *self; /* NULL: no such thread */
    struct clock now, fence, pending;
    bool fenced, ended;
} players[THREADS];

struct byte {
    unsigned last[KINDS][THREADS]; /* 0: never */
};
static struct byte bytes[ARENA]; /* what may be known: all accesses in sampling periods, if there are any */
static struct byte kept[ARENA];  /* what must be: those of them that nothing has come after */

static struct clock published[ARENA];                    /* by atomics, at the address they begin at */
static struct clock released[LOCKS];                     /* mutexes */
static struct clock wrote[LOCKS], read_released[LOCKS];  /* reader-writer locks: for all, for writers */
static int holder[LOCKS], writer[LOCKS], readers[LOCKS]; /* thread + 1; which threads, one bit each */
static bool reported;
static bool sampling = true; /* a period is under way, or there are none */
static bool whole_words;     /* hardly any access to part of a word: then words are not split */
static uint64_t state;

DH_UNTRACKED static unsigned pick(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

DH_UNTRACKED static void learn(struct clock *c, const struct clock *of)
{
    for (int i = 0; i < THREADS; i++)
        c->at[i] = c->at[i] > of->at[i] ? c->at[i] : of->at[i];
}

DH_UNTRACKED static bool conflict(enum kind a, enum kind b)
{
    bool atomic = a >= ATOMIC_READ && b >= ATOMIC_READ, write = a % 2 == WRITE || b % 2 == WRITE;
    return write && !atomic;
}

/* The access of a step, and whether a race must or may be reported. */
static unsigned its_at, its_n;
static bool must, may;

DH_UNTRACKED static bool races(const struct byte *known, int me, unsigned at, unsigned n, enum kind kind)
{
    const struct clock *now = &players[me].now;
    for (unsigned b = at; b < at + n; b++)
        for (int k = 0; k < KINDS; k++)
            for (int who = 0; who < THREADS && conflict(kind, k); who++)
                if (who != me && known[b].last[k][who] > now->at[who])
                    return true;
    return false;
}

/* An access outside a period: a write drops all, a read the reads that happened before it. */
DH_UNTRACKED static void drop(int me, struct byte *b, enum kind kind)
{
    for (int k = 0; k < KINDS; k++)
        for (int who = 0; who < THREADS; who++)
            if (kind == WRITE ||
                (kind == READ && k % 2 == READ && b->last[k][who] <= players[me].now.at[who]))
                b->last[k][who] = 0;
}

DH_UNTRACKED static void expect(int me, unsigned at, unsigned n, enum kind kind)
{
    its_at = at;
    its_n = n;
    must = races(kept, me, at, n, kind);
    may = races(bytes, me, at, n, kind);
    for (unsigned b = at; b < at + n; b++) {
        if (sampling)
            bytes[b].last[kind][me] = kept[b].last[kind][me] = players[me].now.at[me];
        else
            drop(me, &kept[b], kind);
    }
}

DH_UNTRACKED static void forget(unsigned at, unsigned n)
{
    static const struct byte never;
    static const struct clock none;
    for (unsigned b = at; b < at + n; b++) {
        bytes[b] = kept[b] = never;
        published[b] = none;
    }
}

/* ---- What the engine says. ---- */

struct dh_access_now;
void __wrap_dh_report_race(const struct dh_access_now *a, uint32_t id, uintptr_t addr, uint32_t size,
                           uintptr_t at);

DH_UNTRACKED void __wrap_dh_report_race(const struct dh_access_now *a, uint32_t id, uintptr_t addr,
                                        uint32_t size, uintptr_t at)
{
    (void)a, (void)id, (void)addr, (void)size;
    reported = reported || at - (uintptr_t)arena < sizeof(arena);
}

/* Numbers are collected far more often than there is need. */
bool __wrap_dh_ids_want_collection(void);

DH_UNTRACKED bool __wrap_dh_ids_want_collection(void)
{
    static unsigned asked;
    return asked++ % 32 < 2; /* who hears yes asks once more */
}

/* ---- Operations. ---- */

#define PLAIN(bits)                                                          \
    static __attribute__((noinline)) void plain##bits(void *p, bool write)   \
    {                                                                        \
        struct __attribute__((packed, may_alias)) odd {                      \
            uint##bits##_t x;                                                \
        };                                                                   \
        if (write)                                                           \
            ((volatile struct odd *)p)->x = 1;                               \
        else                                                                 \
            (void)((volatile struct odd *)p)->x;                             \
    }                                                                        \
    static __attribute__((noinline)) void aligned##bits(void *p, bool write) \
    {                                                                        \
        if (write)                                                           \
            *(volatile uint##bits##_t *)p = 1;                               \
        else                                                                 \
            (void)*(volatile uint##bits##_t *)p;                             \
    }
PLAIN(8)
PLAIN(16)
PLAIN(32)
PLAIN(64)

/* A range; the other end is this function's own. */
static __attribute__((noinline)) void range(unsigned char *p, unsigned n, bool write)
{
    unsigned char own[ARENA];
    if (write)
        memset(p, 1, n);
    else
        memcpy(own, p, n);
    __asm__ volatile("" : : "r"(own) : "memory");
}

static __attribute__((noinline)) void loop(volatile uint32_t *p, unsigned n, bool write)
{
    for (unsigned i = 0; i < n; i++) {
        if (write)
            p[i] = i;
        else
            (void)p[i];
    }
}

/* From several places, and by several ways to them. */
static __attribute__((noinline)) void touch(unsigned depth, unsigned char *p, unsigned n, bool write)
{
    bool fits = (uintptr_t)p % n == 0;
    if (depth > 0) {
        touch(depth - 1, p, n, write);
        __asm__ volatile("" : : : "memory"); /* not a jump */
    } else if (n == 1)
        (write ? plain8 : aligned8)(p, write);
    else if (n == 2)
        (fits ? aligned16 : plain16)(p, write);
    else if (n == 4)
        (fits ? aligned32 : plain32)(p, write);
    else if (n == 8)
        (fits ? aligned64 : plain64)(p, write);
    else if (n % 4 == 0 && (uintptr_t)p % 4 == 0 && n % 8 == 4)
        loop((volatile uint32_t *)(void *)p, n / 4, write);
    else
        range(p, n, write);
}

DH_UNTRACKED static void plain(int me)
{
    static const unsigned usual[] = {1, 1, 2, 4, 4, 8, 8};
    /* Some words are hardly ever written, and read again and again. */
    bool much_read = pick(4) == 0, write = pick(much_read ? 25 : 3) == 0;
    unsigned n = pick(8) ? usual[pick(7)] : 1 + pick(160);
    bool whole = whole_words && pick(much_read ? 3 : 100);
    if (whole)
        n += 3 - (n + 3) % 4;
    if (much_read && n > 8)
        n = 8;
    unsigned at = much_read ? MUCH_READ + pick(ARENA - MUCH_READ - n + 1) : pick(MUCH_READ - n + 1);
    if (whole || pick(2))
        at -= at % (n < 8 ? n : 8);
    expect(me, at, n, write ? WRITE : READ);
    touch(pick(3), arena + at, n, write);
}

/* An atomic operation's order has to be a constant, and its object aligned to its size. */
enum operation { LOAD, STORE, ADD, SWAP, SWAP_FAILS, OPERATIONS };

#define ORDERED(order)                                                                                \
    switch (op) {                                                                                     \
    case LOAD:                                                                                        \
        atomic_load_explicit(p, (order) == memory_order_acq_rel   ? memory_order_seq_cst              \
                                : (order) == memory_order_release ? memory_order_relaxed              \
                                                                  : (order));                         \
        break;                                                                                        \
    case STORE:                                                                                       \
        atomic_store_explicit(p, 0,                                                                   \
                              (order) == memory_order_acq_rel   ? memory_order_seq_cst                \
                              : (order) == memory_order_acquire ? memory_order_relaxed                \
                                                                : (order));                           \
        break;                                                                                        \
    case ADD:                                                                                         \
        atomic_fetch_add_explicit(p, 1, order);                                                       \
        break;                                                                                        \
    default:                                                                                          \
        atomic_compare_exchange_strong_explicit(                                                      \
            p, &seen, 7, order,                                                                       \
            (order) == memory_order_acq_rel || (order) == memory_order_acquire ? memory_order_acquire \
            : (order) == memory_order_seq_cst                                  ? memory_order_seq_cst \
                                                                               : memory_order_relaxed);                                \
    }

#define ATOMIC(bits)                                                                                 \
    DH_UNTRACKED static uint##bits##_t peek##bits(const void *p)                                     \
    {                                                                                                \
        return *(const volatile uint##bits##_t *)p;                                                  \
    }                                                                                                \
    static __attribute__((noinline)) void atomic##bits(_Atomic uint##bits##_t *p, enum operation op, \
                                                       memory_order order)                           \
    {                                                                                                \
        uint##bits##_t seen = (uint##bits##_t)(peek##bits(p) + (op == SWAP_FAILS));                  \
        if (order == memory_order_relaxed)                                                           \
            ORDERED(memory_order_relaxed)                                                            \
        else if (order == memory_order_acquire)                                                      \
            ORDERED(memory_order_acquire)                                                            \
        else if (order == memory_order_release)                                                      \
            ORDERED(memory_order_release)                                                            \
        else if (order == memory_order_acq_rel)                                                      \
            ORDERED(memory_order_acq_rel)                                                            \
        else                                                                                         \
            ORDERED(memory_order_seq_cst)                                                            \
    }
ATOMIC(8)
ATOMIC(32)
ATOMIC(64)

DH_UNTRACKED static void atomic(int me)
{
    static const memory_order orders[] = {memory_order_relaxed, memory_order_relaxed, memory_order_acquire,
                                          memory_order_release, memory_order_acq_rel, memory_order_seq_cst};
    struct player *t = &players[me];
    enum operation op = pick(OPERATIONS);
    memory_order order = orders[pick(6)];
    /* A few addresses, each always of one size. */
    unsigned spot = pick(6), at = spot * 48 + spot % 3 * 8, n = spot % 3 == 0 ? 1 : spot % 3 == 1 ? 4 : 8;
    bool takes =
        order == memory_order_acquire || order == memory_order_acq_rel || order == memory_order_seq_cst;
    bool gives =
        order == memory_order_release || order == memory_order_acq_rel || order == memory_order_seq_cst;
    if (op == LOAD && order == memory_order_release)
        takes = false;
    if (op == STORE && order == memory_order_acquire)
        gives = false;
    bool reads = op != STORE, writes = op == STORE || op == ADD || op == SWAP;
    if (reads)
        learn(takes ? &t->now : &t->pending, &published[at]);
    expect(me, at, n, writes ? ATOMIC_WRITE : ATOMIC_READ);
    if (writes) {
        static const struct clock none;
        if (op == STORE)
            published[at] = none;
        if (gives)
            learn(&published[at], &t->now);
        else if (t->fenced)
            learn(&published[at], &t->fence);
        if (gives)
            t->now.at[me]++;
    }
    void *p = arena + at;
    if (n == 1)
        atomic8(p, op, order);
    else if (n == 4)
        atomic32(p, op, order);
    else
        atomic64(p, op, order);
}

static __attribute__((noinline)) void fence_acquire(void)
{
    atomic_thread_fence(memory_order_acquire);
}

static __attribute__((noinline)) void fence_release(void)
{
    atomic_thread_fence(memory_order_release);
}

DH_UNTRACKED static void fence(int me)
{
    struct player *t = &players[me];
    if (pick(2)) {
        learn(&t->now, &t->pending);
        fence_acquire();
    } else {
        t->fence = t->now;
        t->fenced = true;
        t->now.at[me]++;
        fence_release();
    }
}

DH_UNTRACKED static void mutex(int me)
{
    struct player *t = &players[me];
    unsigned k = pick(LOCKS);
    if (!holder[k]) {
        CHECK(pthread_mutex_lock(&mutexes[k]) == 0);
        learn(&t->now, &released[k]);
        holder[k] = me + 1;
    } else if (holder[k] == me + 1) {
        released[k] = t->now;
        t->now.at[me]++;
        holder[k] = 0;
        CHECK(pthread_mutex_unlock(&mutexes[k]) == 0);
    }
}

DH_UNTRACKED static void rwlock(int me)
{
    struct player *t = &players[me];
    unsigned k = pick(LOCKS);
    if (writer[k] == me + 1) {
        wrote[k] = t->now;
        t->now.at[me]++;
        writer[k] = 0;
        CHECK(pthread_rwlock_unlock(&rwlocks[k]) == 0);
    } else if (readers[k] >> me & 1) {
        learn(&read_released[k], &t->now);
        t->now.at[me]++;
        readers[k] &= ~(1 << me);
        CHECK(pthread_rwlock_unlock(&rwlocks[k]) == 0);
    } else if (!writer[k] && pick(3)) {
        CHECK(pthread_rwlock_rdlock(&rwlocks[k]) == 0);
        learn(&t->now, &wrote[k]);
        readers[k] |= 1 << me;
    } else if (!writer[k] && !readers[k]) {
        CHECK(pthread_rwlock_wrlock(&rwlocks[k]) == 0);
        learn(&t->now, &wrote[k]);
        learn(&t->now, &read_released[k]);
        writer[k] = me + 1;
    }
}

DH_UNTRACKED static bool holds(int me)
{
    for (int k = 0; k < LOCKS; k++)
        if (holder[k] == me + 1 || writer[k] == me + 1 || (readers[k] >> me & 1))
            return true;
    return false;
}

/* A thread begins where there is room, ends if it holds nothing, and is joined by whoever comes. Its times go on
 * in the next one that has its number: what the former did is known to all who know the latter, since the
 * latter's creator has joined it. */
DH_UNTRACKED static void life(int me)
{
    struct player *t = &players[me];
    int other = (int)pick(THREADS);
    struct player *o = &players[other];
    if (other == me || other == 0)
        return;
    if (!o->self) {
        unsigned was = o->now.at[other];
        if (t->now.at[other] < was)
            return; /* not known here to have ended */
        o->self = dh_lard_thread_new("player");
        CHECK(o->self);
        o->now = t->now;
        o->now.at[other] = was + 1;
        static const struct clock none;
        o->fence = o->pending = none;
        o->fenced = o->ended = false;
        t->now.at[me]++;
    } else if (!o->ended && pick(4) == 0 && !holds(other)) {
        dh_lard_thread_end(o->self);
        o->ended = true;
    } else if (o->ended) {
        dh_lard_thread_join(o->self);
        learn(&t->now, &o->now);
        o->self = NULL;
    }
}

DH_UNTRACKED static void memory(void)
{
    unsigned n = 1 + pick(64), to = pick(ARENA - n + 1), from = pick(ARENA - n + 1);
    if (pick(2)) {
        dh_lard_clear(arena + to, n);
        forget(to, n);
    } else if (to + n <= from || from + n <= to) {
        dh_lard_copy(arena + to, arena + from, n);
        forget(to, n);
        for (unsigned i = 0; i < n; i++)
            bytes[to + i] = bytes[from + i], kept[to + i] = kept[from + i];
    }
}

void dh_period_turn(bool on);
static bool any_found, any_missed;

/* A period begins or ends, now and then. */
DH_UNTRACKED static void turn(void)
{
    if (!SAMPLED || pick(20))
        return;
    sampling = pick(2);
    dh_period_turn(sampling);
}

/* ---- One program. ---- */

DH_UNTRACKED static void begin(uint64_t seed)
{
    static const struct clock none;
    state = seed * 0x9E3779B97F4A7C15u + 1;
    for (int i = 1; i < THREADS; i++)
        players[i].self = NULL;
    for (int i = 0; i < THREADS; i++) {
        players[i].now = players[i].fence = players[i].pending = none;
        players[i].fenced = players[i].ended = false;
    }
    players[0].self = dh_lard_thread_self();
    players[0].now.at[0] = 1;
    for (int k = 0; k < LOCKS; k++) {
        released[k] = wrote[k] = read_released[k] = none;
        CHECK(pthread_mutex_init(&mutexes[k], NULL) == 0 && pthread_rwlock_init(&rwlocks[k], NULL) == 0);
    }
    dh_lard_clear(arena, sizeof(arena));
    forget(0, ARENA);
}

/* Everything is given up, ended and joined. */
DH_UNTRACKED static void end(void)
{
    for (int i = 0; i < THREADS; i++) {
        if (!players[i].self)
            continue;
        if (!players[i].ended) {
            dh_lard_thread_switch(players[i].self);
            for (int k = 0; k < LOCKS; k++) {
                if (holder[k] == i + 1)
                    pthread_mutex_unlock(&mutexes[k]);
                if (writer[k] == i + 1 || (readers[k] >> i & 1))
                    pthread_rwlock_unlock(&rwlocks[k]);
            }
            dh_lard_thread_switch(NULL);
            if (i > 0)
                dh_lard_thread_end(players[i].self);
        }
        if (i > 0)
            dh_lard_thread_join(players[i].self);
    }
    for (int k = 0; k < LOCKS; k++)
        holder[k] = writer[k] = readers[k] = 0;
    for (int k = 0; k < LOCKS; k++)
        CHECK(pthread_mutex_destroy(&mutexes[k]) == 0 && pthread_rwlock_destroy(&rwlocks[k]) == 0);
}

/* 0: what the engine said was right throughout. */
DH_UNTRACKED static int play(uint64_t seed)
{
    begin(seed);
    /* Programs differ in how often they synchronise, and some do for long stretches nothing else. */
    unsigned share = 1 + pick(60);
    whole_words = pick(3) == 0;
    for (int i = 0; i < 2 * THREADS; i++)
        life(0);
    for (int step = 0; step < STEPS; step++) {
        int me = (int)pick(THREADS);
        if (!players[me].self || players[me].ended)
            me = 0;
        dh_lard_thread_switch(me ? players[me].self : NULL);
        turn();
        reported = must = may = false;
        unsigned what = pick(100);
        if (what >= share)
            what % 5 == 0 ? atomic(me) : plain(me);
        else if (what % 8 == 0)
            life(me);
        else if (what % 8 == 1)
            memory();
        else if (what % 8 == 2)
            fence(me);
        else if (what % 8 < 6)
            mutex(me);
        else
            rwlock(me);
        for (unsigned again = pick(1000) ? 0 : pick(2500); again > 0; again--)
            mutex(me); /* epochs in which nothing is accessed */
        if (reported ? !may : must) {
            dh_lard_system_begin();
            fprintf(stderr, "seed %lu, step %d, thread %d: %s\n", (unsigned long)seed, step, me,
                    must ? "a race was lost" : "a false alarm");
            dh_lard_system_end();
            return 1;
        }
        any_found |= must;
        any_missed |= may && !must;
        if (may) {
            dh_lard_clear(arena + its_at, its_n);
            forget(its_at, its_n);
        }
    }
    dh_lard_thread_switch(NULL);
    end();
    return 0;
}

DH_UNTRACKED int main(int argc, char **argv)
{
    if (SAMPLED && !getenv("DEADHEAT_OPTIONS")) {
        CHECK(setenv("DEADHEAT_OPTIONS", "sample=0%", 1) == 0); /* no periods but those that begin here */
        execv("/proc/self/exe", argv);
    }
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1,
             n = argc > 2 ? strtoull(argv[2], NULL, 0) : SEEDS;
    for (uint64_t seed = first; seed < first + n; seed++)
        if (play(seed))
            return 1;
    CHECK(any_found && any_missed == SAMPLED); /* else it has shown nothing */
    puts("OK");
    return 0;
}
