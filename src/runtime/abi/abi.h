/*
 * abi.h - what instrumented code and the runtime agree on.
 *
 * Three parties include this file: the runtime; fastpath.c, which is compiled to bitcode and inlined
 * into every instrumented function; and (by name only) the pass in src/ir, which inserts the calls.
 * Changing anything here changes the binary interface: bump DH_ABI_VERSION, which is part of the
 * name of the module constructor's callee, so that stale objects fail at link time.
 *
 * The pass inserts, before or around the instruction it describes:
 *
 *   plain accesses         __dh_read{1,2,4,8,16}(p), __dh_write{1,2,4,8,16}(p)   naturally aligned
 *                          __dh_read_n(p, n), __dh_write_n(p, n)                 any other size/alignment
 *                          __dh_rare_read{1,...,16,_n}, __dh_rare_write...       the same, not inlined
 *   several of them        __dh_flip_read, __dh_flip_write, __dh_bases, __dh_far{1,2,4,8,16,_n},
 *                          __dh_farthest, __dh_span      parts of one test; behind it, the checks not inlined
 *   memcpy-like            __dh_read_range(p, n), __dh_write_range(p, n)         n may be 0
 *   dense loop             __dh_read_loop(p, n, size), __dh_write_loop(p, n, size) in front of the loop
 *   loop with gaps         __dh_read_stride(p, step, count, size, piece), __dh_write_stride(...), the same
 *   vtable pointer store   __dh_vptr_write(p, new_value)
 *   prefetch               __dh_prefetch(p)
 *   function entry         f = __dh_enter(llvm.returnaddress(0))                 before the first access
 *                          f = __dh_rare_enter(...)                              the same, not inlined
 *   every return           __dh_exit(f)                           also before resume and musttail
 *   setjmp, landing pad    __dh_reenter(f)                        behind it
 *   atomic operation       h = __dh_atomic_pre(p, size, order, kind)
 *                          the operation itself
 *                          __dh_atomic_post(h, order', kind)      see below
 *   fence                  __dh_fence(order)
 *   with --dh-exceptions   __dh_unwind_read4(p) and so on         for slow paths, may throw (unwind.c)
 *   module constructor     __dh_module_init_v3(&marker)           an address in the module's own image
 *                          __dh_module_home(dir)                  then, in shared objects
 */
#ifndef DH_RUNTIME_ABI_ABI_H
#define DH_RUNTIME_ABI_ABI_H

#include "base/base.h"
#include "event/atomic.h"

#define DH_ABI_VERSION 3

/* One entry of the shadow call stack, pushed by every instrumented function that calls or accesses. */
struct dh_frame {
    const void *pc; /* return address of the function that pushed it */
    u32 ctx;        /* calling-context node up to and including pc; 0: not computed yet */
    u32 pad;
};

/*
 * The hot part of a thread's state, in initial-exec TLS so that inlined code reaches it in one instruction.
 * Written only by the owning thread, except for one store explained in period.h. It starts as DH_HOT_NONE:
 * nothing hits, and the slow paths attach the thread.
 */
struct dh_hot {
    u64 read_flip;          /* where this thread's read plane is: dh_plane_of */
    u32 base;               /* first plain access id of the current epoch, with full byte mask */
    u32 span;               /* this many ids from base on belong to this epoch, or are not in any cell yet:
                             * cell - base < span is a hit. Special values: alone.h and period.h */
    u64 bases;              /* base in both halves: for two cells at once */
    struct dh_frame *sp;    /* next free frame of the shadow call stack */
    struct dh_frame *limit; /* sp == limit: full (or not attached); __dh_enter_slow decides */
    struct dh_thread *self; /* the logical thread running here; NULL: not attached */
};

#define DH_HOT_NONE {.read_flip = DH_READ_FLIP(0)}

/* Everything the pass refers to is exported by the executable, for the shared objects that it loads. */
#pragma GCC visibility push(default)

extern _Thread_local struct dh_hot __dh_hot __attribute__((tls_model("initial-exec")));

/*
 * Shadow memory: planes of one 32-bit cell per 4 application bytes. There is one write plane, and a read
 * plane for each class of threads, so that data read by many threads needs no history: each finds its own
 * last read in its own plane. The address of a cell is the application address with a few bits flipped;
 * flipping them again undoes it. docs/design/shadow.md shows that planes never overlap memory, or each other,
 * in the address ranges that Linux assigns by default on x86-64, and what is done where they do anyway.
 *
 * The bits from 40 on choose the plane. Those below only keep the addresses that one access touches from
 * agreeing in all low bits: otherwise accesses took 26 ns instead of 0.8 ns per element (measured; consistent
 * with a cache way predictor, though no performance counter has confirmed it).
 */
#define DH_READ_CLASSES 8u
#define DH_READ_FLIP(c) (DH_READ_PLANE(c) | DH_READ_PLACE(c) | 1ull << 24 | (u64)(c) << 20)
/* Bit 45, and the three bits of the class at 41, 42 and 44. */
#define DH_READ_PLANE(c) \
    (1ull << 45 | ((u64)(c) & 1) << 41 | ((u64)(c) >> 1 & 1) << 42 | ((u64)(c) >> 2 & 1) << 44)
/* Bits 25 to 39, patternless: a program that maps terabytes has memory at round distances, and one class's
 * plane of one mapping must not coincide with another class's plane of another mapping. */
#define DH_READ_PLACE(c) (((u64)(c) * 0x2B5D & 0x7FFF) << 25)
#define DH_WRITE_FLIP (1ull << 44 | 1ull << 23)
/* Planes are contiguous within this much memory, aligned to its size. */
#define DH_READ_RUN (1ull << 20)
#define DH_WRITE_RUN (1ull << 23)

/* The planes in which accesses of this thread are recorded: DH_PLANE_READ is that of its own class. */
enum dh_plane { DH_PLANE_READ, DH_PLANE_WRITE };

/* The bits in which application address and shadow address differ. */
DH_INLINE u64 dh_plane_flip(enum dh_plane plane)
{
    return plane == DH_PLANE_READ ? __dh_hot.read_flip : DH_WRITE_FLIP;
}

/* Application address to shadow address. */
DH_INLINE uptr dh_plane_of(uptr addr, enum dh_plane plane)
{
    return addr ^ dh_plane_flip(plane);
}

/* The class of the thread that runs here; outside a sampling period, when it reads no read plane, class 0. */
DH_INLINE u32 dh_plane_own_class(void)
{
    return (u32)(__dh_hot.read_flip >> 20) % DH_READ_CLASSES;
}

/* All planes by number, for iterating over them: the read planes by class, then the write plane. The same
 * function also maps shadow addresses back to application addresses. */
enum { DH_NTH_WRITE = DH_READ_CLASSES, DH_PLANES };

DH_INLINE uptr dh_plane_nth(uptr addr, u32 n)
{
    return addr ^ (n == DH_NTH_WRITE ? DH_WRITE_FLIP : DH_READ_FLIP(n));
}

/* Orders and kinds of atomic operations are enum dh_order and enum dh_atomic_kind, in event/atomic.h. */

/*
 * __dh_atomic_pre locks the location's synchronisation object (where one is needed), publishes what a
 * release publishes and records the access; post acquires what an acquire acquires, and unlocks.
 * Between the two only the native instruction runs. For compare-exchange, pre is called with the
 * success order and DH_ATOMIC_CAS_FAILED; post with the success order and DH_ATOMIC_RMW, or with the
 * failure order and DH_ATOMIC_CAS_FAILED (then what pre published is withdrawn).
 */
void *__dh_atomic_pre(const volatile void *p, u32 size, u32 order, u32 kind);
void __dh_atomic_post(void *h, u32 order, u32 kind);
void __dh_fence(u32 order);

void __dh_read_range(const volatile void *p, u64 n);
void __dh_write_range(const volatile void *p, u64 n);

/* A loop touches all of [p, p + n) in pieces of `size` bytes before it synchronises. */
void __dh_read_loop(const volatile void *p, u64 n, u32 size);
void __dh_write_loop(const volatile void *p, u64 n, u32 size);

/* A loop touches `count` elements of `size` bytes, in pieces of `piece` bytes, before it synchronises. They
 * start `step` bytes apart, upwards from p; nothing between them is touched. */
void __dh_read_stride(const volatile void *p, u64 step, u64 count, u32 size, u32 piece);
void __dh_write_stride(const volatile void *p, u64 step, u64 count, u32 size, u32 piece);

void __dh_module_init_v3(const void *marker);
void __dh_module_home(const char *dir); /* shared objects: where deadheat is installed */

/* Slow paths of the inlined functions. They preserve every register but r11, so that a check does not affect
 * the compiler's code around it. */
#if defined(__clang__)
#define DH_PRESERVE __attribute__((preserve_most))
#else
#define DH_PRESERVE
#endif
DH_PRESERVE void __dh_slow_read1(const volatile void *p);
DH_PRESERVE void __dh_slow_read2(const volatile void *p);
DH_PRESERVE void __dh_slow_read4(const volatile void *p);
DH_PRESERVE void __dh_slow_read8(const volatile void *p);
DH_PRESERVE void __dh_slow_read16(const volatile void *p);
DH_PRESERVE void __dh_slow_write1(const volatile void *p);
DH_PRESERVE void __dh_slow_write2(const volatile void *p);
DH_PRESERVE void __dh_slow_write4(const volatile void *p);
DH_PRESERVE void __dh_slow_write8(const volatile void *p);
DH_PRESERVE void __dh_slow_write16(const volatile void *p);
DH_PRESERVE void __dh_slow_read_n(const volatile void *p, u64 n);
DH_PRESERVE void __dh_slow_write_n(const volatile void *p, u64 n);
DH_PRESERVE struct dh_frame *__dh_enter_slow(void);

#pragma GCC visibility pop

#endif
