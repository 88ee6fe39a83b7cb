/*
 * exclusive.h - memory that only one thread has accessed so far.
 *
 * Most memory is used by one thread only: its stack, what it allocates for itself, its part of an array.
 * While only one class has marked a block (touched.h), and that class is a single thread (engine/pending.h),
 * everything there is the thread's own, and no other thread is about to look: it uses plain stores to both
 * planes and checks nothing.
 *
 * A thread of another class marks the block before it accesses it, and then revokes the privilege: a barrier
 * on all processors (membarrier) ensures that the owner either sees the mark from now on or has already set
 * its busy flag; then the thread waits until the flag is clear. So the owner needs no fence. Blocks never
 * become exclusive again.
 *
 *   owner                                     other
 *   busy = 1                                  mark the block
 *   look at the marks (no fence)              membarrier
 *   if they are mine alone: store             wait until busy == 0
 *   busy = 0                                  say so in the marks: DH_TOUCHED_SHARED
 *                                             access
 *
 * The owner only does a few stores while busy, and never waits.
 */
#ifndef DH_RUNTIME_SHADOW_EXCLUSIVE_H
#define DH_RUNTIME_SHADOW_EXCLUSIVE_H

#include "runtime/shadow/touched.h"

/* A cache line each. Written by the only thread of the class. */
struct dh_exclusive_work {
    _Alignas(64) volatile u32 busy;
};
extern struct dh_exclusive_work dh_exclusive[DH_READ_CLASSES];

/* The marks of addr's block; what dh_exclusive_is says of them holds until dh_exclusive_end. Inside the
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

/* The caller has added `mark` to the marks `was` of a block, at *p. When this returns, no other class treats
 * the block as exclusive. */
void dh_exclusive_revoke(u32 *p, u32 was, u32 mark);
/* From now on no thread treats any block as exclusive. */
void dh_exclusive_end_all(void);
void dh_exclusive_fork_child(void);

#endif
