/*
 * frame.h - push and pop of the shadow call stack, for all users: inlined code (fastpath.c), interceptors
 * (scope.c), functions of lard.h.
 */
#ifndef DH_RUNTIME_ABI_FRAME_H
#define DH_RUNTIME_ABI_FRAME_H

#include "runtime/abi/abi.h"

/* f is the next free frame, and there is room for it. */
DH_INLINE struct dh_frame *dh_frame_put(struct dh_frame *f, const void *pc)
{
    f->pc = pc;
    f->ctx = 0;
    __dh_hot.sp = f + 1;
    return f;
}

/* A call that returns to pc is on top until dh_frame_pop. */
DH_INLINE struct dh_frame *dh_frame_push(const void *pc)
{
    struct dh_frame *f = __dh_hot.sp;
    if (DH_UNLIKELY(f >= __dh_hot.limit))
        f = __dh_enter_slow();
    return dh_frame_put(f, pc);
}

DH_INLINE void dh_frame_pop(struct dh_frame *f)
{
    __dh_hot.sp = f;
}

#endif
