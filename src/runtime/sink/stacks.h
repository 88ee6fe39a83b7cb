/*
 * stacks.h - tells the recorder what the contexts of events mean, and who the threads are, each once, in the
 * tables of the memory that both share (event/dht_feed.h).
 */
#ifndef DH_RUNTIME_SINK_STACKS_H
#define DH_RUNTIME_SINK_STACKS_H

#include "event/dht_feed.h"
#include "runtime/threads/thread.h"

/* high becomes `to` if it is less. */
DH_INLINE void dh_stacks_raise(u32 *high, u32 to)
{
    u32 was = __atomic_load_n(high, __ATOMIC_RELAXED);
    while (was < to &&
           !__atomic_compare_exchange_n(high, &was, to, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

/* A context, with all that it was called from. Its number in the recording; 0: there is no room for it. */
u32 dh_stacks_tell(struct dh_feed_layout *arena, dh_ctx_t ctx);
/* Recursion was folded into a context, which may have been told. */
void dh_stacks_tell_folded(struct dh_feed_layout *arena, dh_ctx_t ctx);
/* A thread, as it is now. */
void dh_stacks_tell_thread(struct dh_feed_layout *arena, dh_uid_t uid);

/* The context of an access that t makes: that of the function that makes it, and of the interceptor if it is
 * one. */
DH_INLINE dh_ctx_t dh_stacks_of_access(struct dh_thread *t)
{
    struct dh_frame *top = __dh_hot.sp - 1;
    dh_ctx_t ctx = top >= t->frames ? dh_ctx_of_frame(top) : DH_CTX_NONE;
    return DH_LIKELY(!dh_ctx_is_none(ctx)) ? ctx : dh_thread_frame_ctx(t, top);
}

/* Of anything else that t does: the call on top of its shadow stack is where, and need not be made a context
 * for that. order.c does the same with locks. */
DH_INLINE dh_ctx_t dh_stacks_of_call(struct dh_thread *t)
{
    struct dh_frame *top = __dh_hot.sp - 1;
    bool open = top >= t->frames && dh_ctx_is_none(dh_ctx_of_frame(top));
    return dh_thread_frame_ctx(t, open ? top - 1 : top);
}

#endif
