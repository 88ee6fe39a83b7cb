/*
 * pending.h - reads that are published, but not yet known to be seen.
 *
 * An access publishes itself in its plane and then looks at the other, with a full fence in between, so that
 * of two that race at the same instant at least one sees the other (engine.c). That fence is the most
 * expensive part of the usual miss. A read plane is written by one thread alone as long as no two that run
 * share a class, so a read needs no compare-exchange; and the fence need not come at once. The read is
 * stored, the write plane is looked at, and what was seen there is remembered. Later, one fence for many
 * reads, the write plane is looked at again: a write that did not see the read was published before that, and
 * shows.
 *
 * That must happen before anybody can know of the read, or a write that is ordered after it would be taken
 * for one that is not: before the thread publishes its clock (dh_thread_release) or ends its epoch, and
 * before it gives up memory that it has read. Ranges are waited for as usual (dh_range_settled), so whoever
 * announces one settles first if he might have to afterwards.
 *
 * All of it is the owner's, inside the runtime.
 */
#ifndef DH_RUNTIME_ENGINE_PENDING_H
#define DH_RUNTIME_ENGINE_PENDING_H

#include "runtime/engine/parts.h"
#include "runtime/threads/thread.h"

/* May reads be stored without more ado, by threads that have their class to themselves? Not in a program that
 * speaks lard.h, which may clear the history of memory that another thread has just read; not with a tap,
 * where races are exceptions, where rules are counted, in a program that is sampled. Once it is false it
 * stays so. Read without a lock, inside the runtime.
 */
extern bool dh_pending_on;

/* May t store its reads so? It must be the only thread that runs and has its class. Asked inside the runtime:
 * whoever starts a thread that shares the class waits until t is outside. */
DH_INLINE bool dh_pending_may(const struct dh_thread *t)
{
    DH_ASSERT(t->in_rt);
    return dh_pending_on && __atomic_load_n(&t->sole, __ATOMIC_RELAXED);
}

/* The same, and all that t's read plane holds has happened before. */
DH_INLINE bool dh_pending_all_own(const struct dh_thread *t)
{
    return dh_pending_may(t) && !t->heir;
}

/* What a write cell held, if it cannot be told by comparing it later: no cell. */
#define DH_PENDING_LOOK ((dh_cell_t){~0u})

/* A read of so many words at addr, aligned, stored as access id; of one word, the bytes of mask. The write
 * cells held `seen`, each. True: settle now. */
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
/* With all that is not even published yet. */
DH_INLINE void dh_pending_settle(struct dh_thread *t)
{
    dh_parts_flush(t);
    if (t->pending.n)
        dh_pending_settle_now(t);
}

/* Numbers are recycled: what was seen means nothing any more. */
void dh_pending_forget_seen(struct dh_thread *t);

/* At the start, once. */
void dh_pending_init(void);
/* A thread that is about to start shares a class with others, which were told (their `sole`). When this
 * returns, none of them is about to store as if it did not know. self as below. */
void dh_pending_share(struct dh_thread *self);
/* From now on reads are stored by compare-exchange. When this returns, no thread is about to do otherwise.
 * self may be in the runtime, and holds no lock. */
void dh_pending_end(struct dh_thread *self);

#endif
