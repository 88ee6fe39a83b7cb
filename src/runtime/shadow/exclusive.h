/*
 * exclusive.h - memory that only one thread has accessed so far.
 *
 * Most memory is one thread's: its stack, what it allocates for itself, its part of an array. While a block
 * (touched.h) is marked by one class alone, and that class is one thread's (engine/pending.h), whatever the
 * thread finds there is its own, and nobody is about to look: it stores to both planes plainly and checks
 * nothing.
 *
 * A thread of another class marks the block before it accesses it, and then takes the privilege away: by a
 * barrier on all processors (membarrier) it makes sure that the owner either sees the mark from now on or has
 * said that it is at work, and then waits until it no longer is. So the owner needs no fence. Blocks never
 * become exclusive again.
 *
 *   owner                                     other
 *   busy = 1                                  mark the block
 *   look at the marks (no fence)              membarrier
 *   if they are mine alone: store             wait until busy == 0
 *   busy = 0                                  say so in the marks: DH_TOUCHED_SHARED
 *                                             access
 *
 * The owner's work is a few stores: it never waits for anybody in between.
 */
#ifndef DH_RUNTIME_SHADOW_EXCLUSIVE_H
#define DH_RUNTIME_SHADOW_EXCLUSIVE_H

#include "runtime/shadow/touched.h"

/* A line each. Written by the one thread of the class. */
struct dh_exclusive_work {
    _Alignas(64) volatile u32 busy;
};
extern struct dh_exclusive_work dh_exclusive[DH_READ_CLASSES];

/* The marks of addr's block, which hold until dh_exclusive_end as far as dh_exclusive_is goes. Inside the
 * runtime, while dh_pending_all_own. */
DH_INLINE u32 dh_exclusive_begin(u32 class, uptr addr)
{
    DH_ASSERT(!dh_exclusive[class].busy);
    dh_exclusive[class].busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return dh_touched_mark(addr);
}

DH_INLINE void dh_exclusive_end(u32 class)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    dh_exclusive[class].busy = 0;
}

DH_INLINE bool dh_exclusive_is(u32 marks, u32 class)
{
    return (marks & DH_TOUCHED_PLANES) == 1u << (DH_READ_CLASSES + class);
}

/* The caller has added `mark` to marks `was` of a block, *p. When this returns, no other class takes the
 * block for its own. */
void dh_exclusive_revoke(u32 *p, u32 was, u32 mark);
/* Nobody takes any block for his own any more, nor ever will. */
void dh_exclusive_end_all(void);
void dh_exclusive_fork_child(void);

#endif
