/*
 * period.h - sampling periods: PACER (Bond, Coons, McKinley, PLDI 2010) on this engine.
 *
 * With the options sample or overhead, accesses are recorded in sampling periods only. Periods are those of
 * the whole process; each thread takes part in one from its next entry into the runtime on. Outside, clocks
 * go on as always, so that what was recorded is still compared exactly, and accesses are only checked against
 * it (engine/unsampled.h). docs/design/sampling.md has the argument, and what differs from the paper.
 *
 * A thread outside a period has base 0, span 1, and looks for reads in the write plane: an empty write cell
 * hits the inlined check, and all else is a call.
 *
 * How threads learn of a change: it makes a new generation of the collector, which every entry into the
 * runtime compares with its own. A thread that finds nothing but empty cells would never enter; so where a
 * period begins, the controller turns the pair (0, 1) in other threads' base and span into (0, 0), by
 * compare-exchange, and their next access is a call. It is the only store into another thread's hot state.
 * One that is lost, because the owner stores at the same moment, costs nothing: the owner is in the runtime.
 *
 * A thread that knows all that was ever recorded is settled. Until the next period nothing is recorded, so it
 * can race with nothing and has nothing to learn. The controller finds such threads by their clocks, and
 * makes everything hit (DH_SPAN_SETTLED). When all are settled, none has anything to tell another, and
 * synchronisation is not followed any more until the next period.
 */
#ifndef DH_RUNTIME_THREADS_PERIOD_H
#define DH_RUNTIME_THREADS_PERIOD_H

#include "runtime/threads/thread.h"

/* Is this program sampled? Set at the start, once. */
extern bool dh_period_on;

/* The number of the present pause between two periods, once no thread records any more; 0: it is not known
 * that none does. Atomic. */
extern u32 dh_period_pause;

/* All threads are settled. Atomic. Asked inside the runtime: it is cleared, and every thread has been outside
 * once, before anybody takes part in the next period. */
extern bool dh_period_all_settled;

/* Of the calling thread, inside the runtime and after the operation by which it might learn something: is
 * there nothing to learn, and nothing that it could race with? */
DH_INLINE bool dh_period_settled(const struct dh_thread *t)
{
    if (__atomic_load_n(&dh_period_all_settled, __ATOMIC_RELAXED))
        return true;
    /* A new generation may be a period that others take part in already. */
    return __dh_hot.span == DH_SPAN_SETTLED && __dh_hot.self == t && t->gen == dh_collect_gen;
}

/* Was this epoch of the slot known to all threads when they were last all settled? Then what was recorded in
 * it races with nothing to come. */
extern u32 dh_period_past[];
DH_INLINE bool dh_period_is_past(dh_slot_t slot, u32 clock)
{
    return __atomic_load_n(&dh_period_past[dh_slot_raw(slot)], __ATOMIC_RELAXED) >= clock;
}

/* By the options. */
void dh_period_init(void);
/* t, inside the runtime or running nowhere, takes part in the present period, or stops to if there is none.
 */
void dh_period_heed(struct dh_thread *t);
/* There is more than one thread: from now on there are periods. Inside the runtime, without a lock. */
void dh_period_start(void);
/* From now on threads may be created that do not know what their creator knows. */
void dh_period_unsettle(void);
/* t, which runs nowhere, is such a one. It gets to know what all others did when they were last all settled:
 * what they told each other then was not followed, and cannot be told to it any more. */
void dh_period_inherit(struct dh_thread *t);
/* A thread has ended; its work outlives it. Under dh_threads_lock. */
void dh_period_give(const struct dh_thread *t);
void dh_period_fork_child(void); /* likewise */

/* Of those counters that are kept here; false: c is none of them. */
bool dh_period_counter(enum dh_counter c, u64 *ret);

#endif
