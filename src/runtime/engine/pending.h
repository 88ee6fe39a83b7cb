/*
 * pending.h - reads that are stored, but not yet known to be visible to other threads.
 *
 * An access publishes itself in its plane and then checks the other, with a full fence in between, so that of
 * two that race at the same instant at least one sees the other (engine.c). That fence is the most expensive
 * part of the usual miss. As long as no two running threads share a class, a read plane is written by one
 * thread only, so a read needs no compare-exchange; and the fence can be delayed. The read is stored, the
 * write plane is checked, and what was seen there is remembered. Later, after one fence for many reads, the
 * write plane is checked again: a write that did not see the read was published before the fence, and is now
 * visible.
 *
 * That must happen before another thread can be ordered after the read, or a write ordered after it would
 * look like a race: before the thread publishes its clock (dh_thread_release) or ends its epoch, and before
 * it frees memory that it has read. Settling waits for range accesses as usual (dh_range_settled), so a
 * thread that announces a range settles first if it might have to settle during it.
 *
 * Only the owning thread uses any of this, inside the runtime.
 */
#ifndef DH_RUNTIME_ENGINE_PENDING_H
#define DH_RUNTIME_ENGINE_PENDING_H

#include "runtime/engine/parts.h"
#include "runtime/threads/thread.h"

/* May a thread that is alone in its class store reads this way? Not in a program that uses lard.h, which may
 * clear the history of memory that another thread has just read; nor with a tap, when races are exceptions,
 * when rules are counted, or when sampling. Once false it stays false. Read without a lock, inside the
 * runtime. */
extern bool dh_pending_on;

/* May t store its reads this way? It must be the only running thread of its class. Call it inside the
 * runtime: starting a thread that shares the class waits until t is outside. */
DH_INLINE bool dh_pending_may(const struct dh_thread *t)
{
    DH_ASSERT(t->in_rt);
    return dh_pending_on && __atomic_load_n(&t->sole, __ATOMIC_RELAXED);
}

/* The same, and everything in t's read plane happened before. */
DH_INLINE bool dh_pending_all_own(const struct dh_thread *t)
{
    return dh_pending_may(t) && !t->heir;
}

/* For `seen`, where comparing the write cell later would prove nothing: not a valid cell. */
#define DH_PENDING_LOOK ((dh_cell_t){~0u})

/* Note a read of `words` words at addr (aligned), stored as access id; for one word, of the bytes of mask.
 * Each write cell held `seen`. True: settle now. */
DH_INLINE bool dh_pending_add(struct dh_thread *t, uptr addr, u32 words, dh_mask_t mask, dh_cell_t seen,
                              dh_id_t id)
{
    struct dh_pending_list *l = &t->pending;
    DH_ASSERT(t->in_rt && l->n < DH_PENDING && !(addr & 3) && !dh_mask_is_none(mask));
    DH_ASSERT(words > 0 && words <= 1u << (DH_PENDING_MASK - DH_PENDING_WORDS));
    l->reads[l->n] = (struct dh_pending){.where = addr | (u64)(words - 1) << DH_PENDING_WORDS |
                                                  (u64)dh_mask_raw(mask) << DH_PENDING_MASK,
                                         .seen = seen,
                                         .id = id};
    return ++l->n == DH_PENDING;
}

void dh_pending_settle_now(struct dh_thread *t);
/* Including what has not even been stored yet. */
DH_INLINE void dh_pending_settle(struct dh_thread *t)
{
    dh_parts_flush(t);
    if (t->pending.n)
        dh_pending_settle_now(t);
}

/* Cell numbers are being recycled: forget what was seen. */
void dh_pending_forget_seen(struct dh_thread *t);

/* At the start, once. */
void dh_pending_init(void);
/* A thread about to start shares a class with others, whose `sole` has been cleared. When this returns, none
 * of them is still about to store as if it were alone. self as below. */
void dh_pending_share(struct dh_thread *self);
/* From now on reads are stored by compare-exchange. When this returns, no thread is still about to use a
 * plain store. self may be in the runtime, and holds no lock. */
void dh_pending_end(struct dh_thread *self);

#endif
