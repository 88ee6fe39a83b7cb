/*
 * stacks.h - describes contexts and threads to the recorder, each once, in tables of the shared memory
 * (event/dht_feed.h).
 */
#ifndef DH_RUNTIME_SINK_STACKS_H
#define DH_RUNTIME_SINK_STACKS_H

#include "event/dht_feed.h"
#include "runtime/threads/thread.h"

/* Raise high to `to` if it is less. */
DH_INLINE void dh_stacks_raise(u32 *high, u32 to)
{
    u32 was = __atomic_load_n(high, __ATOMIC_RELAXED);
    while (was < to &&
           !__atomic_compare_exchange_n(high, &was, to, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

/* Describe a context and its callers. Returns its number in the recording; 0: there is no space for it. */
u32 dh_stacks_tell(struct dh_feed_layout *arena, dh_ctx_t ctx);
/* Recursion was folded into a context, which may already have been described. */
void dh_stacks_tell_folded(struct dh_feed_layout *arena, dh_ctx_t ctx);
/* Describe a thread, as it is now. */
void dh_stacks_tell_thread(struct dh_feed_layout *arena, dh_uid_t uid);

/* The context of an access by t: that of the function that makes it, including the interceptor if there is
 * one. */
DH_INLINE dh_ctx_t dh_stacks_of_access(struct dh_thread *t)
{
    struct dh_frame *top = __dh_hot.sp - 1;
    dh_ctx_t ctx = top >= t->frames ? dh_ctx_of_frame(top) : DH_CTX_NONE;
    return DH_LIKELY(!dh_ctx_is_none(ctx)) ? ctx : dh_thread_frame_ctx(t, top);
}

/* The context of anything else that t does: its place is the call on top of the shadow stack, which need not
 * be interned for that. order.c does the same for locks. */
DH_INLINE dh_ctx_t dh_stacks_of_call(struct dh_thread *t)
{
    struct dh_frame *top = __dh_hot.sp - 1;
    bool open = top >= t->frames && dh_ctx_is_none(dh_ctx_of_frame(top));
    return dh_thread_frame_ctx(t, open ? top - 1 : top);
}

#endif
