/*
 * period.h - sampling periods: PACER (Bond, Coons, McKinley, PLDI 2010) on this engine.
 *
 * With the options sample or overhead, accesses are recorded in sampling periods only. Periods apply to the
 * whole process; each thread joins one at its next entry into the runtime. Outside periods, clocks are
 * maintained as usual, so that what was recorded is still compared exactly, and accesses are only checked
 * against it (engine/unsampled.h). docs/design/sampling.md has the argument, and the differences from the
 * paper.
 *
 * A thread outside a period has base 0 and span 1, and its reads check the write plane: an empty write cell
 * hits the inlined check, and anything else is a call.
 *
 * How threads learn of a change: it starts a new generation of the collector, which every entry into the
 * runtime compares with its own. A thread that finds only empty cells would never enter; so when a period
 * begins, the controller changes the pair (0, 1) in other threads' base and span to (0, 0), by
 * compare-exchange, and their next access is a call. It is the only store into another thread's hot state. If
 * it is lost because the owner stores at the same moment, no harm is done: the owner is in the runtime.
 *
 * A thread is settled if everything ever recorded happened before. Until the next period nothing is recorded,
 * so it cannot race and has nothing to acquire. The controller finds such threads by their clocks, and makes
 * every check hit (DH_SPAN_SETTLED). When all threads are settled, none has anything to publish to another,
 * and synchronisation is not tracked until the next period.
 */
#ifndef DH_RUNTIME_THREADS_PERIOD_H
#define DH_RUNTIME_THREADS_PERIOD_H

#include "runtime/threads/thread.h"

/* Is this program sampled? Set at the start, once. */
extern bool dh_period_on;

/* The number of the current pause between two periods, once no thread records any more; 0: some thread may
 * still record. Atomic. */
extern u32 dh_period_pause;

/* All threads are settled. Atomic. Read it inside the runtime: it is cleared, and every thread has been
 * outside once, before any thread joins the next period. */
extern bool dh_period_all_settled;

/* For the calling thread, inside the runtime and after an operation by which it might acquire something: is
 * there nothing to acquire, and nothing that it could race with? */
DH_INLINE bool dh_period_settled(const struct dh_thread *t)
{
    if (__atomic_load_n(&dh_period_all_settled, __ATOMIC_RELAXED))
        return true;
    /* A new generation may be a period that others have already joined. */
    return __dh_hot.span == DH_SPAN_SETTLED && __dh_hot.self == t && t->gen == dh_collect_gen;
}

/* By slot: the epoch that all threads knew when they were last all settled. What was recorded up to it cannot
 * race with future accesses. */
extern u32 dh_period_past[];
DH_INLINE bool dh_period_is_past(dh_slot_t slot, u32 clock)
{
    return __atomic_load_n(&dh_period_past[dh_slot_raw(slot)], __ATOMIC_RELAXED) >= clock;
}

/* By the options. */
void dh_period_init(void);
/* t, inside the runtime or not running, joins the current period, or leaves the last one if there is none. */
void dh_period_heed(struct dh_thread *t);
/* There is more than one thread: from now on there are periods. Inside the runtime, without a lock. */
void dh_period_start(void);
/* From now on threads may be created that do not inherit their creator's clock. */
void dh_period_unsettle(void);
/* t, which is not running, is such a thread. It acquires what all others did until they were last all
 * settled: their synchronisation at that time was not tracked, so t cannot acquire it later. */
void dh_period_inherit(struct dh_thread *t);
/* A thread has ended; its work outlives it. Under dh_threads_lock. */
void dh_period_give(const struct dh_thread *t);
void dh_period_fork_child(void); /* likewise */

/* The value of a counter that is kept here; false: c is not one of them. */
bool dh_period_counter(enum dh_counter c, u64 *ret);

#endif
