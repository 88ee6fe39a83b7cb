/*
 * compat/fastpath.c - the instrumentation of -fsanitize=thread: accesses and the shadow call stack.
 *
 * gcc and clang insert calls where our pass inserts code, so the check that the pass inlines into the program
 * is inlined into these functions instead (same_epoch.h). Invariant: a miss leaves by a jump to a slow path
 * (a tail call), so that the slow path finds the address of the access as its caller, as it does when the
 * pass calls it. tests/compat/stacks checks that. For the same reason these functions are compiled without
 * frame pointers: a hit is then a handful of instructions, none of which writes memory.
 *
 * Unlike ours, exit calls do not pass the frame that entry pushed. So a frame stores the stack pointer of its
 * function, by which exit recognises it. The compiler handles exceptions, by calling exit in landing pads;
 * compat/jump.c handles longjmp.
 */
#include "runtime/abi/same_epoch.h"
#include "runtime/compat/compat.h"
#include "runtime/threads/thread.h"

/* Number of calls beyond a full shadow stack, so that as many exits pop nothing. */
static _Thread_local u32 beyond __attribute__((tls_model("initial-exec")));

/* The slow paths, declared as plain C functions: it does no harm that they preserve more registers, and only
 * then does the compiler emit a tail call. */
#define SLOW(name, ...) \
    extern void slow_##name(const volatile void *p, ##__VA_ARGS__) __asm__("__dh_slow_" #name)
#define SLOWS(kind) \
    SLOW(kind##1);  \
    SLOW(kind##2);  \
    SLOW(kind##4);  \
    SLOW(kind##8);  \
    SLOW(kind##16); \
    SLOW(kind##_n, u64 n)
SLOWS(read);
SLOWS(write);

#define CHECK(name, far, slow)                   \
    DH_COMPAT void __tsan_##name(void *p)        \
    {                                            \
        uptr addr = (uptr)p;                     \
        if (DH_UNLIKELY((far) >= __dh_hot.span)) \
            slow;                                \
    }

#define FAR1(plane) dh_distance(addr, plane)
#define FAR2(plane) dh_distance(addr, plane)
#define FAR4(plane) dh_distance4(addr, plane)
#define FAR8(plane) dh_distance8(addr, plane)
#define FAR16(plane) (dh_distance8(addr, plane) | dh_distance8(addr + 8, plane))

/* One write stands for a read and a write of the same variable. volatile orders no threads: it is a plain
 * access. */
#define ALIGNED(size)                                                        \
    CHECK(read##size, FAR##size(DH_PLANE_READ), slow_read##size(p))          \
    CHECK(write##size, FAR##size(DH_PLANE_WRITE), slow_write##size(p))       \
    CHECK(read_write##size, FAR##size(DH_PLANE_WRITE), slow_write##size(p))  \
    CHECK(volatile_read##size, FAR##size(DH_PLANE_READ), slow_read##size(p)) \
    CHECK(volatile_write##size, FAR##size(DH_PLANE_WRITE), slow_write##size(p))

#define UNALIGNED(size)                                                                                    \
    CHECK(unaligned_read##size, dh_distance_any(addr, size, DH_PLANE_READ), slow_read_n(p, size))          \
    CHECK(unaligned_write##size, dh_distance_any(addr, size, DH_PLANE_WRITE), slow_write_n(p, size))       \
    CHECK(unaligned_read_write##size, dh_distance_any(addr, size, DH_PLANE_WRITE), slow_write_n(p, size))  \
    CHECK(unaligned_volatile_read##size, dh_distance_any(addr, size, DH_PLANE_READ), slow_read_n(p, size)) \
    CHECK(unaligned_volatile_write##size, dh_distance_any(addr, size, DH_PLANE_WRITE), slow_write_n(p, size))

ALIGNED(1)
ALIGNED(2)
ALIGNED(4)
ALIGNED(8)
ALIGNED(16)
UNALIGNED(2)
UNALIGNED(4)
UNALIGNED(8)
UNALIGNED(16)

/* gcc's call for everything that is not 1, 2, 4, 8 or 16 aligned bytes: mostly a few bytes. */
enum { FEW = 16 };

DH_COMPAT void __tsan_read_range(void *p, size_t n)
{
    if (n - 1 >= FEW)
        __dh_read_range(p, n);
    else if (DH_UNLIKELY(dh_distance_any((uptr)p, n, DH_PLANE_READ) >= __dh_hot.span))
        slow_read_n(p, n);
}

DH_COMPAT void __tsan_write_range(void *p, size_t n)
{
    if (n - 1 >= FEW)
        __dh_write_range(p, n);
    else if (DH_UNLIKELY(dh_distance_any((uptr)p, n, DH_PLANE_WRITE) >= __dh_hot.span))
        slow_write_n(p, n);
}

CHECK(vptr_read, dh_distance8(addr, DH_PLANE_READ), slow_read8(p))

/* Storing the vtable pointer that an object already has, as constructors do, changes nothing. */
DH_COMPAT void __tsan_vptr_update(void **p, void *value)
{
    if (*(void *volatile *)p != value && DH_UNLIKELY(dh_distance8((uptr)p, DH_PLANE_WRITE) >= __dh_hot.span))
        slow_write8(p);
}

/* ---- The shadow call stack ---- */

/* The stack pointer of our caller, before it called. Nothing may have been pushed here. */
DH_INLINE uptr callers_stack(void)
{
    uptr stack;
    __asm__ volatile("lea 8(%%rsp), %0" : "=r"(stack));
    return stack;
}

/* No room: the thread is not attached, or has just become another one (identity.c), or its stack is full. */
static DH_COLD void enter_slow(void *pc, uptr stack)
{
    if (__dh_hot.limit && __dh_hot.self) {
        dh_runtime_count(DH_COUNT_LOST_FRAMES);
        beyond++;
        return;
    }
    struct dh_frame *f = __dh_enter_slow();
    *f = (struct dh_frame){.pc = pc, .pad = (u32)stack};
    __dh_hot.sp = f + 1;
}

/* pc: the return address of the function that calls this. */
DH_COMPAT void __tsan_func_entry(void *pc)
{
    struct dh_frame *f = __dh_hot.sp;
    uptr stack = callers_stack();
    if (DH_UNLIKELY(f >= __dh_hot.limit)) {
        enter_slow(pc, stack);
        return;
    }
    f->pc = pc;
    f->ctx = 0;
    f->pad = (u32)stack;
    __dh_hot.sp = f + 1;
}

/* Is this the frame of the function that now exits, by a call at this stack pointer, or by a jump? By a jump
 * the return address is its own, and its frame is gone. */
DH_INLINE bool exits(const struct dh_frame *f, const void *pc, uptr stack)
{
    return f->pad == (u32)stack || f->pc == pc;
}

/*
 * The top frame does not match. Either this function has extended its stack since (alloca): then its frame is
 * the topmost. Or frames above it were left behind by an unseen jump, or by a function that switched to
 * another fiber and returned there: then it lies deeper, before any frame of its callers.
 */
static DH_COLD void exit_slow(const void *pc, uptr stack)
{
    struct dh_thread *t = __dh_hot.self;
    struct dh_frame *top = __dh_hot.sp, *f = top;
    if (!t || !__dh_hot.limit)
        return;
    if (beyond) {
        beyond--;
        return;
    }
    while (f > t->frames && !exits(f - 1, pc, stack) && (int)(f[-1].pad - (u32)stack) < 0)
        f--;
    if (f == t->frames || !exits(f - 1, pc, stack))
        f = top;
    if (f > t->frames)
        __dh_hot.sp = f - 1;
}

DH_COMPAT void __tsan_func_exit(void)
{
    struct dh_frame *f = __dh_hot.sp;
    uptr stack = callers_stack();
    const void *pc = __builtin_return_address(0);
    if (DH_LIKELY(f < __dh_hot.limit && f > __dh_hot.self->frames && exits(f - 1, pc, stack)))
        __dh_hot.sp = f - 1;
    else
        exit_slow(pc, stack);
}
