/*
 * fastpath.c - the part of the runtime that lives inside instrumented functions.
 *
 * Compiled to bitcode when deadheat is built; the pass links it into each module, makes it internal
 * and inlines every call. Invariants: no function here calls anything but a slow path; none writes
 * shared memory; a hit means "this thread recorded an access at least as strong as this one, to all
 * these bytes, in its current epoch", which is FastTrack's [READ/WRITE SAME EPOCH] (section 3.1 of
 * the paper).
 *
 * Why subtract-and-compare instead of equality: the ids of one epoch are consecutive, one per
 * calling context, so a range test accepts all of them (docs/design/engine.md).
 */
#include "abi.h"

#define FAST __attribute__((always_inline, used))

DH_INLINE bool hit(u32 c)
{
    return c - __dh_hot.base < __dh_hot.count;
}

/* Part of a word or a word. */
DH_INLINE bool hit4(const volatile void *p, enum dh_plane plane)
{
    const u32 *cell = (const u32 *)dh_plane_of((uptr)p & ~(uptr)3, plane);
    return DH_LIKELY(hit(__atomic_load_n(cell, __ATOMIC_RELAXED)));
}

DH_INLINE bool hit8(const volatile void *p, enum dh_plane plane)
{
    u64 two = __atomic_load_n((const u64 *)dh_plane_of((uptr)p, plane), __ATOMIC_RELAXED);
    return DH_LIKELY(hit((u32)two) && hit((u32)(two >> 32)));
}

#define ACCESS(name, size, hits)                        \
    FAST void __dh_##name##size(const volatile void *p) \
    {                                                   \
        if (!(hits))                                    \
            __dh_slow_##name##size(p);                  \
    }

ACCESS(read, 1, hit4(p, DH_PLANE_READ))
ACCESS(read, 2, hit4(p, DH_PLANE_READ))
ACCESS(read, 4, hit4(p, DH_PLANE_READ))
ACCESS(read, 8, hit8(p, DH_PLANE_READ))
ACCESS(read, 16, hit8(p, DH_PLANE_READ) && hit8((const char *)p + 8, DH_PLANE_READ))
ACCESS(write, 1, hit4(p, DH_PLANE_WRITE))
ACCESS(write, 2, hit4(p, DH_PLANE_WRITE))
ACCESS(write, 4, hit4(p, DH_PLANE_WRITE))
ACCESS(write, 8, hit8(p, DH_PLANE_WRITE))
ACCESS(write, 16, hit8(p, DH_PLANE_WRITE) && hit8((const char *)p + 8, DH_PLANE_WRITE))

/* A constructor that stores the vtable pointer an object already has changes nothing. */
FAST void __dh_vptr_write(const volatile void *p, const void *value)
{
    if (*(const void *const volatile *)p != value)
        __dh_write8(p);
}

FAST struct dh_frame *__dh_enter(const void *pc)
{
    struct dh_frame *f = __dh_hot.sp;
    if (DH_UNLIKELY(f >= __dh_hot.limit))
        f = __dh_enter_slow();
    f->pc = pc;
    f->ctx = 0;
    __dh_hot.sp = f + 1;
    return f;
}

FAST void __dh_exit(struct dh_frame *f)
{
    __dh_hot.sp = f;
}

/* After longjmp or a caught exception: drop the frames of the functions that did not return. */
FAST void __dh_reenter(struct dh_frame *f)
{
    __dh_hot.sp = f + 1;
}
