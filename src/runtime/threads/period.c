/*
 * period.c - see period.h; when periods begin and end.
 *
 * The controller is a thread of the runtime, which exists while the program has more than one thread. It
 * sleeps for a while, begins a period, sleeps, and ends it. Both lengths are drawn from exponential
 * distributions: whatever happened before, the next period is as likely to begin now as at any other moment,
 * so a program cannot be in step with them.
 *
 * The rate is a share of work, not of time: a program is slower inside a period, so a share of time would be
 * a smaller share of its work. Work is counted in calls that are made inside and outside alike (struct
 * dh_thread.work): interceptors, atomic operations, checks of ranges. PACER counts synchronisation for the
 * same purpose. If there are too few such calls to tell, a period is assumed to slow the program down by the
 * usual factor (USUAL_SPEED).
 *
 * Everything here is written under dh_threads_lock, except `sampling`, which others read.
 */
#define _GNU_SOURCE 1
#include "runtime/threads/period.h"

#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/sys.h"
#include "runtime/init.h"
#include "runtime/intercept/intercept.h"
#include "runtime/shadow/collect.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/alone.h"

#define MILLISECOND 1000000ull /* times are in nanoseconds */
#define LENGTH (5 * MILLISECOND)
#define SHORTEST (MILLISECOND / 2)
#define SHORTEST_PAUSE (2 * MILLISECOND) /* on average */
#define LOOK (20 * MILLISECOND)          /* longest sleep before it checks whether it is still needed */
#define FIRST_LOOK (MILLISECOND / 4)     /* likewise, after a period: threads settle soon, or later */
#define LATER_LOOK (4 * MILLISECOND)
#define LONGEST_PAUSE (3600000 * MILLISECOND)
#define USUAL_SPEED 0.25    /* of a program inside a period, to that outside */
#define ENOUGH 256          /* from this many calls on, they are significant */
#define FIRST_RATE 10000    /* millionths: with a budget alone, until its cost is known */
#define WHOLE 1000000       /* all, in millionths */
#define STACK (256ul << 10) /* of the controller */

bool dh_period_on;
static bool sampling; /* a period is under way; atomic */
u32 dh_period_pause = 1;
bool dh_period_all_settled;

/* What time is spent in. */
enum phase {
    IDLE,      /* there are no threads to sample */
    OUTSIDE,   /* of a period */
    INSIDE,    /* one */
    AFTERWARDS /* outside, for as long as the last one took: its histories are found and dropped */
};
enum { PHASES = AFTERWARDS + 1 };

struct spent {
    u64 ns, cpu_ns, work;
};

static enum phase phase;
static struct spent since; /* the clocks and the work count when the current phase began */
static struct spent totals[PHASES];
static u64 periods;
static u32 pauses = 1; /* the number of the last one */
static u64 ended_work; /* of threads that have ended */
static bool running;   /* there is a controller */
static u64 random_state;

extern DH_HIDDEN int (*dh_real_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                                               void *);

/* ---- Accounts ---- */

static u64 clock_ns(long which)
{
    struct timespec now = {0};
    dh_sys3(SYS_clock_gettime, which, (long)&now, 0);
    return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

static struct spent spent_now(void)
{
    DH_ASSERT(dh_lock_is_mine(&dh_threads_lock));
    struct spent s = {clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_PROCESS_CPUTIME_ID), ended_work};
    for (const struct dh_thread *t = dh_threads; t; t = t->next)
        if (t->state != DH_THREAD_FINISHED) /* finished ones have handed theirs over */
            s.work += __atomic_load_n(&t->work, __ATOMIC_RELAXED);
    return s;
}

/* The current phase ends, and `next` begins. */
static void account(enum phase next)
{
    struct spent now = spent_now(), *sum = &totals[phase];
    sum->ns += now.ns - since.ns;
    sum->cpu_ns += now.cpu_ns - since.cpu_ns;
    sum->work += now.work - since.work;
    since = now;
    phase = next;
}

/* ---- Which threads know everything ---- */

/* By slot: an epoch after which no owner of the slot outside a period has recorded anything. Written by the
 * owner; atomic. */
static u32 recorded[DH_SLOTS_MAX];
static u32 recorded_slots; /* one past the highest that is not 0; atomic, only grows */
u32 dh_period_past[DH_SLOTS_MAX];

/* t has recorded nothing after this epoch, and no longer records. */
static void note_recorded(const struct dh_thread *t, u32 epoch)
{
    u32 slot = dh_slot_raw(t->slot), slots = __atomic_load_n(&recorded_slots, __ATOMIC_RELAXED);
    if (!t->recorded)
        return;
    __atomic_store_n(&recorded[slot], epoch, __ATOMIC_RELAXED);
    while (slots <= slot && !__atomic_compare_exchange_n(&recorded_slots, &slots, slot + 1, false,
                                                         __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
}

/* No thread records any more. Has t's last recording epoch been noted? t has not done so itself if it has not
 * been in the runtime since the period ended. If it enters while we check, that shows in in_rt, and in
 * unsampled when it is outside again. */
static bool is_noted(const struct dh_thread *t)
{
    if (__atomic_load_n(&t->unsampled, __ATOMIC_ACQUIRE) || !t->recorded)
        return true;
    u32 epoch = dh_thread_read_clock(t, t->slot);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (t->in_rt || __atomic_load_n(&t->unsampled, __ATOMIC_RELAXED))
        return false;
    note_recorded(t, epoch);
    return true;
}

static bool knows_all(const struct dh_thread *t)
{
    /* The owner may be growing it: the length first, since the array is published before it. */
    u32 n = __atomic_load_n(&t->vc.n, __ATOMIC_ACQUIRE);
    const u32 *c = __atomic_load_n(&t->vc.c, __ATOMIC_ACQUIRE);
    u32 slots = __atomic_load_n(&recorded_slots, __ATOMIC_ACQUIRE), s = 0;
    while (s < slots && __atomic_load_n(&recorded[s], __ATOMIC_RELAXED) <=
                            (s < n ? __atomic_load_n(&c[s], __ATOMIC_RELAXED) : 0))
        s++;
    return s == slots;
}

typedef u64 pair __attribute__((may_alias));
_Static_assert(offsetof(struct dh_hot, base) % 8 == 0 &&
                   offsetof(struct dh_hot, span) == offsetof(struct dh_hot, base) + 4,
               "base and span are one aligned word of 64 bits");

/* Change what hits in another thread, which is outside a period. */
static void change_span(struct dh_hot *hot, u32 from, u32 to)
{
    u64 old = (u64)from << 32; /* base 0 */
    if (hot)
        __atomic_compare_exchange_n((pair *)&hot->base, &old, (u64)to << 32, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_RELAXED);
}

/* Settle the threads that can be settled. */
static void settle(void)
{
    bool noted = true, all = dh_alone_all_inherit() && dh_runtime_has_membarrier();
    DH_ASSERT(dh_lock_is_mine(&dh_threads_lock));
    if (!dh_period_on || !__atomic_load_n(&dh_period_pause, __ATOMIC_RELAXED))
        return;
    /* A kernel thread with several identities may switch to one whose clock is behind. */
    for (const struct dh_thread *t = dh_threads; t && noted; t = t->next)
        noted = t->state == DH_THREAD_FINISHED || (!t->carried && is_noted(t));
    for (const struct dh_thread *t = dh_threads; t && noted; t = t->next) {
        if (t->state == DH_THREAD_FINISHED || dh_thread_will_know(t))
            continue;
        /* A new thread gets its creator's clock of that time when it starts. */
        bool knows = t->state == DH_THREAD_NEW ? periods == 0 : knows_all(t);
        all = all && knows;
        if (knows)
            change_span(t->hot, 1, DH_SPAN_SETTLED);
    }
    all = all && noted;
    for (u32 s = 0; s < recorded_slots && all && !dh_period_all_settled; s++)
        __atomic_store_n(&dh_period_past[s], recorded[s], __ATOMIC_RELAXED);
    __atomic_store_n(&dh_period_all_settled, all, __ATOMIC_SEQ_CST);
}

/* Called outside the runtime, and often, so without a lock. The controller may be about to declare once more
 * that all are settled; dh_period_inherit makes up for what is not tracked until it checks again. */
void dh_period_unsettle(void)
{
    if (__atomic_load_n(&dh_period_all_settled, __ATOMIC_RELAXED))
        __atomic_store_n(&dh_period_all_settled, false, __ATOMIC_SEQ_CST);
}

void dh_period_inherit(struct dh_thread *t)
{
    u32 slots = __atomic_load_n(&recorded_slots, __ATOMIC_ACQUIRE);
    for (u32 s = 0; s < slots; s++)
        dh_thread_write_clock(t, dh_slot_from(s), __atomic_load_n(&dh_period_past[s], __ATOMIC_RELAXED));
}

void dh_period_give(const struct dh_thread *t)
{
    DH_ASSERT(dh_lock_is_mine(&dh_threads_lock));
    ended_work += t->work;
    if (!t->unsampled)
        note_recorded(t, dh_thread_read_clock(t, t->slot));
}

/* ---- Begin and end ---- */

void dh_period_heed(struct dh_thread *t)
{
    struct dh_hot *hot = __dh_hot.self == t ? &__dh_hot : &t->saved;
    bool outside = !__atomic_load_n(&sampling, __ATOMIC_RELAXED);
    if (!dh_period_on || t->alone)
        return;
    DH_ASSERT(__dh_hot.self != t || t->in_rt);
    if (outside && !t->unsampled) {
        note_recorded(t, dh_thread_read_clock(t, t->slot));
        /* What it does next is not recorded, so it must not count as part of this epoch. */
        dh_thread_end_epoch(t);
    }
    if (!outside && t->unsampled)
        t->stamp++; /* ids taken since, to report races, are below the base */
    t->unsampled = outside;
    dh_thread_set_hot(t, hot);
    if (outside && __atomic_load_n(&dh_period_all_settled, __ATOMIC_RELAXED))
        hot->span = DH_SPAN_SETTLED; /* a new one, too: it inherits its creator's clock */
}

/* A period is about to begin: no thread is settled any more. False: some thread may still act as if it
 * were. */
static bool wake(struct dh_thread *self)
{
    dh_lock_take(&dh_threads_lock);
    bool all = dh_period_all_settled;
    __atomic_store_n(&dh_period_all_settled, false, __ATOMIC_SEQ_CST);
    __atomic_store_n(&dh_period_pause, 0, __ATOMIC_SEQ_CST); /* nor becomes so */
    for (const struct dh_thread *t = dh_threads; t; t = t->next)
        change_span(t->hot, DH_SPAN_SETTLED, 1);
    dh_lock_drop(&dh_threads_lock);
    return !all || dh_collect_quiesce(self);
}

/* self: as in dh_collect_quiesce. */
static void turn(struct dh_thread *self, bool on)
{
    if (on && !wake(self))
        return;
    dh_lock_take(&dh_threads_lock);
    account(on ? INSIDE : AFTERWARDS);
    periods += on;
    __atomic_store_n(&dh_period_pause, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&sampling, on, __ATOMIC_SEQ_CST);
    dh_lock_drop(&dh_threads_lock);
    bool all_know = dh_collect_quiesce(self);
    dh_lock_take(&dh_threads_lock);
    if (!on && all_know)
        __atomic_store_n(&dh_period_pause, ++pauses, __ATOMIC_SEQ_CST);
    for (const struct dh_thread *t = dh_threads; t && on; t = t->next) {
        change_span(t->hot, 1, 0); /* empty cells miss too */
        change_span(t->hot, DH_SPAN_SETTLED, 0);
    }
    dh_lock_drop(&dh_threads_lock);
}

/*
 * For tests, in place of the controller, which does nothing at a rate of 0: begin or end a period. Not
 * declared in any header: a test declares `extern void dh_period_turn(bool on);`.
 */
__attribute__((used, retain)) void dh_period_turn(bool on);
void dh_period_turn(bool on)
{
    struct dh_thread *t = __dh_hot.self;
    if (!dh_period_on || !t || !dh_thread_enter_any(t))
        return;
    turn(t, on);
    dh_thread_leave(t);
}

/* Likewise: settle the threads that can be settled. True: all are. */
__attribute__((used, retain)) bool dh_period_settle(void);
bool dh_period_settle(void)
{
    struct dh_thread *t = __dh_hot.self;
    if (!dh_period_on || !t || !dh_thread_enter_any(t))
        return false;
    dh_lock_take(&dh_threads_lock);
    settle();
    bool all = dh_period_all_settled;
    dh_lock_drop(&dh_threads_lock);
    dh_thread_leave(t);
    return all;
}

/* ---- When ---- */

static u32 random_u32(void)
{
    random_state += 0x9E3779B97F4A7C15u; /* splitmix64 */
    u64 z = random_state;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (u32)(z >> 32);
}

/* Exponentially distributed, by von Neumann's comparison of uniform numbers: no logarithm is needed. */
static u64 random_around(u64 mean)
{
    for (u32 whole = 0;; whole++) {
        u32 first = random_u32(), least = first, next = random_u32(), run = 1;
        for (; next < least; next = random_u32(), run++)
            least = next;
        if (run & 1)
            return mean * whole + (u64)((double)mean * first / 0x1p32);
    }
}

static double within(double least, double x, double most)
{
    return x < least ? least : x > most ? most : x;
}

/* The program's speed inside a period, relative to outside. */
static double speed_inside(void)
{
    u64 out_ns = totals[OUTSIDE].ns + totals[AFTERWARDS].ns;
    u64 out_work = totals[OUTSIDE].work + totals[AFTERWARDS].work;
    if (totals[INSIDE].work < ENOUGH || out_work < ENOUGH)
        return USUAL_SPEED;
    double speed =
        (double)totals[INSIDE].work / (double)totals[INSIDE].ns * (double)out_ns / (double)out_work;
    return within(1.0 / 64, speed, 1);
}

/* Work inside periods should be `rate` millionths of all work. If it was more or less so far, pauses are
 * longer or shorter to compensate. */
static double pause_by_rate(u32 rate)
{
    double out_work = (double)(totals[OUTSIDE].work + totals[AFTERWARDS].work), correction = 1;
    if (rate == 0)
        return (double)LONGEST_PAUSE;
    double out_to_in = (double)(WHOLE - rate) / rate;
    if (totals[INSIDE].work >= ENOUGH && out_work >= ENOUGH)
        correction = within(1.0 / 16, (double)totals[INSIDE].work * out_to_in / out_work, 16);
    return (double)LENGTH * speed_inside() * out_to_in * correction;
}

/* CPU time that the periods have cost so far: what they and the time after them took, less what the same work
 * takes otherwise. Work counts of different parts of a program are not comparable, so in a short run the
 * difference means little; to keep within a budget, the cost is never assumed to be less than usual. */
static double cost_so_far(void)
{
    const struct spent *in = &totals[INSIDE], *after = &totals[AFTERWARDS], *out = &totals[OUTSIDE];
    double took = (double)(in->cpu_ns + after->cpu_ns), usual = (double)in->cpu_ns * (1 - USUAL_SPEED);
    if (in->work < ENOUGH || out->work < ENOUGH)
        return usual;
    double cost = took - (double)out->cpu_ns * (double)(in->work + after->work) / (double)out->work;
    return cost > usual ? cost : usual;
}

/* A period should cost `budget` millionths of the CPU time that the program takes without it, from one period
 * to the next. If they have cost more or less so far, pauses are longer or shorter to compensate. */
static double pause_by_budget(u32 budget)
{
    if (budget == 0)
        return (double)LONGEST_PAUSE;
    if (!periods || !totals[OUTSIDE].ns || !totals[OUTSIDE].cpu_ns)
        return pause_by_rate(FIRST_RATE);
    double busy = (double)totals[OUTSIDE].cpu_ns / (double)totals[OUTSIDE].ns; /* processors */
    double cost = cost_so_far(), all = 0;
    for (u32 p = OUTSIDE; p < PHASES; p++)
        all += (double)totals[p].cpu_ns;
    double correction = within(1.0 / 2, cost * WHOLE / budget / (all - cost), 16);
    return cost / (double)periods * WHOLE / budget / busy * correction;
}

/* The next pause, and the period after it. If the rate calls for pauses too short for the kernel's timers,
 * both are longer. */
struct plan {
    u64 pause, length;
};

static struct plan next_plan(void)
{
    double pause = 0, length = LENGTH;
    dh_lock_take(&dh_threads_lock);
    account(phase);
    if (dh_opts.sample >= 0)
        pause = pause_by_rate((u32)dh_opts.sample);
    if (dh_opts.overhead >= 0) {
        double by_budget = pause_by_budget((u32)dh_opts.overhead);
        pause = by_budget > pause ? by_budget : pause;
    }
    dh_lock_drop(&dh_threads_lock);
    if (pause < SHORTEST_PAUSE && dh_opts.overhead < 0)
        length *= SHORTEST_PAUSE / within((double)MILLISECOND / 100, pause, SHORTEST_PAUSE);
    pause = within(SHORTEST_PAUSE, pause, LONGEST_PAUSE);
    return (struct plan){random_around((u64)pause), random_around((u64)length) + SHORTEST};
}

/* ---- The controller ---- */

/* Are there threads that could race? A single remaining thread creates all later ones, so it cannot race with
 * them. */
static bool are_several(void)
{
    u32 live = 0;
    for (const struct dh_thread *t = dh_threads; t; t = t->next)
        live += t->state != DH_THREAD_FINISHED;
    return live > 1;
}

/* If not, the controller exits: creating the next thread starts another. */
static bool is_needed(void)
{
    dh_lock_take(&dh_threads_lock);
    running = are_several();
    account(running ? OUTSIDE : IDLE);
    bool needed = running;
    dh_lock_drop(&dh_threads_lock);
    return needed;
}

/* Returns early if the controller is no longer needed. */
static void pause_for(u64 ns)
{
    bool several = true;
    u64 look = FIRST_LOOK;
    while (ns > 0 && several) {
        u64 part = ns < look ? ns : look;
        look = dh_period_all_settled ? LOOK : look < LATER_LOOK ? look * 2 : LATER_LOOK;
        struct timespec wait = {.tv_nsec = (long)part};
        dh_sys3(SYS_nanosleep, (long)&wait, 0, 0);
        ns -= part;
        dh_lock_take(&dh_threads_lock);
        several = are_several();
        settle();
        dh_lock_drop(&dh_threads_lock);
    }
}

static void *control(void *unused)
{
    (void)unused;
    dh_scope_thread_known();
    dh_sys3(SYS_prctl, PR_SET_NAME, (long)"deadheat", 0);
    struct plan next = next_plan();
    pause_for(next.pause);
    while (is_needed()) {
        u64 length = next.length;
        turn(NULL, true);
        pause_for(length);
        turn(NULL, false);
        next = next_plan();
        pause_for(next.pause < length ? next.pause : length);
        if (next.pause > length) {
            dh_lock_take(&dh_threads_lock);
            account(OUTSIDE);
            dh_lock_drop(&dh_threads_lock);
            pause_for(next.pause - length);
        }
    }
    return NULL;
}

void dh_period_start(void)
{
    pthread_attr_t attr;
    pthread_t unused;
    bool timed = dh_opts.sample > 0 || (dh_opts.sample < 0 && dh_opts.overhead > 0);
    if (!dh_period_on)
        return;
    dh_lock_take(&dh_threads_lock);
    bool first = !running;
    running = true;
    if (first) {
        account(OUTSIDE);
        settle();
    }
    dh_lock_drop(&dh_threads_lock);
    if (!first || !timed)
        return;
    DH_RESOLVE(pthread_create);
    u64 mask = dh_signal_block_all();
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (REAL(pthread_create)(&unused, &attr, control, NULL) != 0) {
        dh_lock_take(&dh_threads_lock);
        account(IDLE);
        running = false;
        dh_lock_drop(&dh_threads_lock);
    }
    pthread_attr_destroy(&attr);
    dh_signal_set_mask(mask);
}

void dh_period_fork_child(void)
{
    DH_ASSERT(dh_lock_is_mine(&dh_threads_lock));
    __atomic_store_n(&sampling, false, __ATOMIC_RELAXED);
    __atomic_store_n(&dh_period_pause, ++pauses, __ATOMIC_RELAXED); /* there is only one thread */
    __atomic_store_n(&dh_period_all_settled, false, __ATOMIC_RELAXED);
    running = false;
    periods = ended_work = 0;
    memset(totals, 0, sizeof(totals));
    phase = IDLE;
    since = spent_now();
    random_state ^= since.ns;
}

/* ---- The whole ---- */

void dh_period_init(void)
{
    bool part = dh_opts.sample >= 0 && dh_opts.sample < WHOLE;
    dh_period_on = part || dh_opts.overhead >= 0;
    random_state = clock_ns(CLOCK_MONOTONIC) ^ (u64)dh_sys_gettid() << 40;
    const char *refusal = NULL;
    if (dh_opts.sample < 0 && dh_opts.overhead < 0)
        return;
    if (dh_sink_wants_all())
        refusal =
            "sample and overhead work only with the detector fasttrack: others see everything or nothing";
    else if (dh_opts.on_race == DH_ON_RACE_EXCEPTION)
        refusal =
            "on_race=exception promises to raise every race; it cannot be combined with sample or overhead";
    if (refusal) {
        dh_sys_say(refusal);
        dh_sys3(SYS_exit_group, 2, 0, 0);
    }
}

bool dh_period_counter(enum dh_counter c, u64 *ret)
{
    if (c < DH_COUNT_PERIODS || c > DH_COUNT_SAMPLED_OF_WORK)
        return false;
    dh_lock_take(&dh_threads_lock);
    account(phase);
    const struct spent *in = &totals[INSIDE], *out = &totals[OUTSIDE], *after = &totals[AFTERWARDS];
    *ret = c == DH_COUNT_PERIODS         ? periods
           : c == DH_COUNT_SAMPLED_US    ? in->ns / 1000
           : c == DH_COUNT_SAMPLED_OF_US ? (in->ns + out->ns + after->ns) / 1000
           : c == DH_COUNT_SAMPLED_WORK  ? in->work
                                         : in->work + out->work + after->work;
    dh_lock_drop(&dh_threads_lock);
    return true;
}
