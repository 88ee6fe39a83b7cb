/*
 * lard.h - how a language runtime tells deadheat about its memory, threads and synchronisation.
 *
 * A virtual machine, a garbage collector, a fiber library or a pool allocator stands between the program and
 * the machine. A detector that watches the machine then sees accesses and locks that are not the program's,
 * and misinterprets a block that was reused or moved, or a thread that changed its carrier. These calls are
 * the five extensions of "Low-Level Detection of Language-Level Data Races with LARD" (section 3, table 1):
 * tracked and untracked accesses, tracked and untracked synchronisation, clear history, copy history, thread
 * identity.
 *
 * Compiled by `deadheat cc` (which defines __DEADHEAT__) the names below are functions of the runtime.
 * Compiled by any other compiler they are empty inline functions: no call, no branch, no symbol to link. To
 * choose independently of the compiler, -DDH_LARD=1 selects the functions and -DDH_LARD=0 the empty versions.
 *
 * All functions may be called from any thread at any time, including signal handlers, and preserve errno.
 * None of them fails: where deadheat cannot do its part, it counts the failure and mentions it in its report.
 */
#ifndef DEADHEAT_LARD_H
#define DEADHEAT_LARD_H

#include <stddef.h>
#include <stdint.h>

#include "deadheat.h"

#ifndef DH_LARD
#ifdef __DEADHEAT__
#define DH_LARD 1
#else
#define DH_LARD 0
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A language-level thread. */
typedef struct dh_lard_thread dh_lard_thread;

/* How a lock is held. */
enum dh_lard_lock_mode { DH_LARD_EXCLUSIVE = 0, DH_LARD_SHARED = 1 };

#if DH_LARD
#if DH_LARD == 1 /* 2: the runtime's own files */
/* Tells the runtime that the program uses this interface, so that it keeps track of everything from the very
 * start (needed for unordered regions, below). */
__attribute__((section("dh_lard"), used)) static const char dh_lard_spoken = 1;
#endif
#define DH_LARD_CALL(name, params, unused) void name params;
#define DH_LARD_GIVES(type, none, name, params, unused) type name params;
#else
#define DH_LARD_CALL(name, params, unused) \
    static inline void name params         \
    {                                      \
        unused;                            \
    }
#define DH_LARD_GIVES(type, none, name, params, unused) \
    static inline type name params                      \
    {                                                   \
        unused;                                         \
        return none;                                    \
    }
#endif

/*
 * ---- Accesses (rule 1: only the program's own accesses are checked) ----
 *
 * One access of the language-level program to [p, p + n), checked and recorded whatever region the thread is
 * in. Call it before the access takes place. `site` is shown as the place of the access: any address that
 * means something to the language runtime, such as that of the bytecode; NULL: the caller.
 */
DH_LARD_CALL(dh_lard_read, (const volatile void *p, size_t n, const void *site),
             ((void)p, (void)n, (void)site))
DH_LARD_CALL(dh_lard_write, (const volatile void *p, size_t n, const void *site),
             ((void)p, (void)n, (void)site))

/* From here to the matching end, what this thread does is the language runtime's own: instrumented accesses
 * (in code of `deadheat cc` and in intercepted functions such as memcpy) are ignored. Regions nest. They
 * belong to the kernel thread and stay in effect when it switches to another thread (dh_lard_thread_switch).
 * DH_UNTRACKED (deadheat.h) does the same for the body of one function, at no cost when it runs. */
DH_LARD_CALL(dh_lard_untracked_begin, (void), (void)0)
DH_LARD_CALL(dh_lard_untracked_end, (void), (void)0)

/*
 * ---- Synchronisation (rule 2: only the program's own synchronisation orders it) ----
 *
 * From here to the matching end, locks, atomics, condition variables, thread creation and the like of this
 * thread create no ordering: they only protect the language runtime itself. Regions nest, also with untracked
 * ones. A lock taken inside and released outside creates no ordering either.
 */
DH_LARD_CALL(dh_lard_unordered_begin, (void), (void)0)
DH_LARD_CALL(dh_lard_unordered_end, (void), (void)0)

/* Both at once: the thread works for the language runtime. */
DH_LARD_CALL(dh_lard_system_begin, (void), (void)0)
DH_LARD_CALL(dh_lard_system_end, (void), (void)0)

/* Synchronisation of the program, first style: on an address, with the clocks kept by deadheat. What a
 * thread did before a release happens before what another does after a later acquire of the same address.
 * They count inside unordered regions too. release_store forgets earlier releases, release adds to them. */
DH_LARD_CALL(dh_lard_acquire, (const volatile void *object), ((void)object))
DH_LARD_CALL(dh_lard_release, (const volatile void *object), ((void)object))
DH_LARD_CALL(dh_lard_release_store, (const volatile void *object), ((void)object))

/* The same for a lock of the program, so that reports name it: call after acquiring it, and before releasing
 * it. Nested acquisitions of one lock by one thread count as one. */
DH_LARD_CALL(dh_lard_lock, (const volatile void *lock, int mode), ((void)lock, (void)mode))
DH_LARD_CALL(dh_lard_unlock, (const volatile void *lock), ((void)lock))

/* Synchronisation of the program, second style: the language runtime keeps vector clocks of its own and reads
 * and writes that of the current thread (ReadVC and WriteVC of section 4.1). Entries are numbered by
 * dh_lard_thread_index. A write raises an entry and never lowers it; the thread's own entry cannot be
 * written. To publish: read the entries, then dh_lard_advance, which begins the thread's next epoch. */
DH_LARD_GIVES(uint64_t, 0, dh_lard_read_vc, (uint32_t index), ((void)index))
DH_LARD_CALL(dh_lard_write_vc, (uint32_t index, uint64_t time), ((void)index, (void)time))
DH_LARD_CALL(dh_lard_advance, (void), (void)0)
/* Reads up to n entries into `times` and returns how many there are; and the counterpart for writing. */
DH_LARD_GIVES(size_t, 0, dh_lard_read_vcs, (uint64_t *times, size_t n), ((void)times, (void)n))
DH_LARD_CALL(dh_lard_write_vcs, (const uint64_t *times, size_t n), ((void)times, (void)n))

/*
 * ---- Memory (rules 3 and 4: histories follow the objects of the language) ----
 *
 * Any address, any size, any alignment. The caller must ensure that no thread accesses the memory meanwhile
 * (section 3.4 of the paper); if one does anyway, each word is seen either entirely before or entirely after.
 */
/* The memory is now free, or belongs to another object: no earlier access to it races with later ones.
 * Synchronisation objects in it (dh_lard_release, dh_lard_lock) are forgotten too. */
DH_LARD_CALL(dh_lard_clear, (const volatile void *p, size_t n), ((void)p, (void)n))
/* The history of src is copied to dst, whose own history is forgotten. They may overlap. */
DH_LARD_CALL(dh_lard_copy, (volatile void *dst, const volatile void *src, size_t n),
             ((void)dst, (void)src, (void)n))
/* The same, but the part of src outside dst is cleared. Synchronisation objects in src move along. */
DH_LARD_CALL(dh_lard_move, (volatile void *dst, const volatile void *src, size_t n),
             ((void)dst, (void)src, (void)n))

/*
 * ---- Thread identity (rule 5: threads are those of the language) ----
 *
 * Every kernel thread starts as a thread of its own. Creating a language-level thread is a fork: it inherits
 * the current thread's clock. It does not run until some kernel thread switches to it. Switching creates no
 * ordering, and costs only a few loads and stores; at most one kernel thread runs as a given thread at a
 * time, and the language runtime itself must make what it did visible to the next one.
 */
DH_LARD_GIVES(dh_lard_thread *, (dh_lard_thread *)0, dh_lard_thread_new, (const char *name), ((void)name))
/* The current thread. */
DH_LARD_GIVES(dh_lard_thread *, (dh_lard_thread *)0, dh_lard_thread_self, (void), (void)0)
/* The kernel thread becomes t; NULL: the one it was started as. */
DH_LARD_CALL(dh_lard_thread_switch, (dh_lard_thread * t), ((void)t))
/* t has ended. Called by t itself as its last act, or by another thread while t is not running. In the former
 * case the kernel thread reverts to the thread it was started as. */
DH_LARD_CALL(dh_lard_thread_end, (dh_lard_thread * t), ((void)t))
/* What t did until it ended happens before what the current thread does next. Destroys t. */
DH_LARD_CALL(dh_lard_thread_join, (dh_lard_thread * t), ((void)t))
/* Nobody will join t; it is destroyed when it ends. */
DH_LARD_CALL(dh_lard_thread_detach, (dh_lard_thread * t), ((void)t))
/* Its index in vector clocks, from 0. The index of an ended thread is reused by a later one, whose clock
 * continues where the former's stopped. */
DH_LARD_GIVES(uint32_t, 0, dh_lard_thread_index, (const dh_lard_thread *t), ((void)t))

#undef DH_LARD_CALL
#undef DH_LARD_GIVES

#ifdef __cplusplus
}
#endif

#endif
