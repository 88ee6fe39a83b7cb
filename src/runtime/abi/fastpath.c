/*
 * fastpath.c - the part of the runtime that lives inside instrumented functions.
 *
 * Compiled to bitcode when deadheat is built; the pass links it into each module, makes it internal
 * and inlines every call. Invariants: no function here calls anything but a slow path; none writes
 * shared memory; a hit means "this thread recorded an access at least as strong as this one, to all
 * these bytes, in its current epoch", which is FastTrack's [READ/WRITE SAME EPOCH] (section 3.1 of
 * the paper).
 */
#include "runtime/abi/frame.h"
#include "runtime/abi/same_epoch.h"

#define FAST __attribute__((always_inline, used))

/* The same check as a function, for rarely executed code: a tenth of the size. It preserves all registers,
 * like the slow paths, and tail-jumps to them, so that they see the address of the access as their caller. */
#define RARE __attribute__((noinline, used, preserve_most))

/* The condition is in the `if` itself: branch likelihood would not survive the inlining of a function that
 * returns it, and every hit would be a taken branch. */
#define ACCESS(name, size, far)                                     \
    FAST void __dh_##name##size(const volatile void *p)             \
    {                                                               \
        uptr addr = (uptr)p;                                        \
        if (DH_UNLIKELY((far) >= __dh_hot.span))                    \
            __dh_slow_##name##size(p);                              \
    }                                                               \
    RARE void __dh_rare_##name##size(const volatile void *p)        \
    {                                                               \
        uptr addr = (uptr)p;                                        \
        if (DH_LIKELY((far) < __dh_hot.span))                       \
            return;                                                 \
        __attribute__((musttail)) return __dh_slow_##name##size(p); \
    }

#define ACCESSES(name, plane)                                                           \
    ACCESS(name, 1, dh_distance(addr, plane))                                           \
    ACCESS(name, 2, dh_distance(addr, plane))                                           \
    ACCESS(name, 4, dh_distance4(addr, plane))                                          \
    ACCESS(name, 8, dh_distance8(addr, plane))                                          \
    ACCESS(name, 16, dh_distance8(addr, plane) | dh_distance8(addr + 8, plane))         \
    /* Any size and alignment; n is a constant where this is inlined. */                \
    FAST void __dh_##name##_n(const volatile void *p, u64 n)                            \
    {                                                                                   \
        if (n > 16 || DH_UNLIKELY(dh_distance_any((uptr)p, n, plane) >= __dh_hot.span)) \
            __dh_slow_##name##_n(p, n);                                                 \
    }                                                                                   \
    RARE void __dh_rare_##name##_n(const volatile void *p, u64 n)                       \
    {                                                                                   \
        if (n <= 16 && DH_LIKELY(dh_distance_any((uptr)p, n, plane) < __dh_hot.span))   \
            return;                                                                     \
        __attribute__((musttail)) return __dh_slow_##name##_n(p, n);                    \
    }

ACCESSES(read, DH_PLANE_READ)
ACCESSES(write, DH_PLANE_WRITE)

/* The parts from which the pass builds one test for several accesses: see src/ir/groups.c. */
FAST u64 __dh_flip_read(void)
{
    return dh_plane_flip(DH_PLANE_READ);
}

FAST u64 __dh_flip_write(void)
{
    return dh_plane_flip(DH_PLANE_WRITE);
}

FAST u64 __dh_bases(void)
{
    return __dh_hot.bases;
}

#define FAR(size, far)                                                   \
    FAST u64 __dh_far##size(const volatile void *p, u64 flip, u64 bases) \
    {                                                                    \
        uptr addr = (uptr)p;                                             \
        return far;                                                      \
    }
FAR(1, dh_far(addr, flip, bases))
FAR(2, dh_far(addr, flip, bases))
FAR(4, dh_far4(addr, flip, bases))
FAR(8, dh_far8(addr, flip, bases))
FAR(16, dh_far8(addr, flip, bases) | dh_far8(addr + 8, flip, bases))

FAST u64 __dh_far_n(const volatile void *p, u64 flip, u64 bases, u64 n)
{
    return dh_far_any((uptr)p, n, flip, bases);
}

FAST u32 __dh_farthest(u64 far)
{
    return dh_farthest(far);
}

FAST u32 __dh_span(void)
{
    return __dh_hot.span;
}

/* Storing the vtable pointer that an object already has, as constructors do, changes nothing. */
FAST void __dh_vptr_write(const volatile void *p, const void *value)
{
    if (*(const void *const volatile *)p != value)
        __dh_write8(p);
}

/* Goes with a prefetch of the program. */
FAST void __dh_prefetch(const volatile void *p)
{
    __builtin_prefetch((const void *)dh_plane_of((uptr)p, DH_PLANE_READ));
    __builtin_prefetch((const void *)dh_plane_of((uptr)p, DH_PLANE_WRITE));
}

FAST struct dh_frame *__dh_enter(const void *pc)
{
    return dh_frame_push(pc);
}

/* For functions that spend their time in calls. The pass passes pc in r10, which holds no argument of the
 * function. */
RARE struct dh_frame *__dh_rare_enter(const void *pc)
{
    struct dh_frame *f = __dh_hot.sp;
    if (DH_UNLIKELY(f >= __dh_hot.limit)) {
        f = __dh_enter_slow();
        /* Saving a register aligns the stack for the call. Without one, LLVM 19 aligns it by a push, and
         * undoes that by a pop into rcx, which preserve_most must preserve. */
        __asm__ volatile("" ::: "rcx");
    }
    return dh_frame_put(f, pc);
}

FAST void __dh_exit(struct dh_frame *f)
{
    dh_frame_pop(f);
}

/* After longjmp or a caught exception: drop the frames of the functions that did not return. */
FAST void __dh_reenter(struct dh_frame *f)
{
    __dh_hot.sp = f + 1;
}
