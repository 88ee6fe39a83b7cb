/*
 * compat/annotate.c - the dynamic annotations (ANNOTATE_* macros call these functions), and the functions of
 * our own header <deadheat/annotations.h> that lard.h does not have.
 *
 * Each function gets the file and line of its macro, which the shadow call stack knows better. Their meaning
 * is that of the original dynamic_annotations.h, even where ThreadSanitizer does nothing: code that calls
 * ANNOTATE_CONDVAR_SIGNAL wants it to create ordering.
 */
#include "runtime/compat/compat.h"
#include "runtime/intercept/intercept.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/thread.h"

#define DH_LARD 2
#include "deadheat/annotations.h"

#define ANNOTATION(name, ...) DH_COMPAT void name(const char *file, int line, ##__VA_ARGS__)
#define UNUSED ((void)file, (void)line)

/* ---- Order ---- */

#define ORDER(name, how)                        \
    ANNOTATION(name, const volatile void *addr) \
    {                                           \
        UNUSED;                                 \
        how(addr);                              \
    }

ORDER(AnnotateHappensBefore, dh_lard_release)
ORDER(AnnotateHappensAfter, dh_lard_acquire)
ORDER(WTFAnnotateHappensBefore, dh_lard_release)
ORDER(WTFAnnotateHappensAfter, dh_lard_acquire)
ORDER(AnnotateCondVarSignal, dh_lard_release)
ORDER(AnnotateCondVarSignalAll, dh_lard_release)
/* A queue: a put happens before the get of the same element. It is unknown which one that is, so all earlier
 * puts count. */
ORDER(AnnotatePCQPut, dh_lard_release)
ORDER(AnnotatePCQGet, dh_lard_acquire)
ORDER(AnnotatePCQCreate, dh_annotate_forget)
ORDER(AnnotatePCQDestroy, dh_annotate_forget)

ANNOTATION(AnnotateCondVarWait, const volatile void *cond, const volatile void *mutex)
{
    UNUSED;
    (void)mutex;
    dh_lard_acquire(cond);
}

/* ---- Locks: the first byte stands for the lock, whose size is unknown ---- */

static void lock_created_or_destroyed(const volatile void *lock, const void *pc)
{
    DH_SCOPE(sc);
    if (!dh_scope_begin(&sc, pc))
        return;
    dh_object_new(sc.t, lock, 1);
    dh_scope_end(&sc);
}

static void lock_acquired(const volatile void *lock, bool exclusive, const void *pc)
{
    DH_SCOPE(sc);
    if (!dh_scope_begin(&sc, pc))
        return;
    dh_compat_use(sc.t, lock);
    dh_order_lock(sc.t, lock, exclusive ? DH_LOCK_RECURSIVE : DH_LOCK_READ);
    dh_scope_end(&sc);
}

ANNOTATION(AnnotateRWLockCreate, const volatile void *lock)
{
    UNUSED;
    lock_created_or_destroyed(lock, __builtin_return_address(0));
}

ANNOTATION(AnnotateRWLockCreateStatic, const volatile void *lock)
{
    UNUSED;
    (void)lock;
}

ANNOTATION(AnnotateRWLockDestroy, const volatile void *lock)
{
    UNUSED;
    lock_created_or_destroyed(lock, __builtin_return_address(0));
}

ANNOTATION(AnnotateRWLockAcquired, const volatile void *lock, long is_write)
{
    UNUSED;
    lock_acquired(lock, is_write != 0, __builtin_return_address(0));
}

ANNOTATION(AnnotateRWLockReleased, const volatile void *lock, long is_write)
{
    UNUSED;
    (void)is_write; /* the runtime knows in which mode it was taken */
    DH_COMPAT_ENTER();
    dh_order_unlock(sc.t, lock, false);
    dh_scope_end(&sc);
}

/* ---- Memory ---- */

/* Publishing is a hand-over that the tool does not see: earlier accesses count as ordered. */
ANNOTATION(AnnotatePublishMemoryRange, const volatile void *p, size_t n)
{
    UNUSED;
    dh_lard_clear(p, n);
}

ANNOTATION(AnnotateNewMemory, const volatile void *p, size_t n)
{
    UNUSED;
    dh_lard_clear(p, n);
}

ANNOTATION(AnnotateBenignRaceSized, const volatile void *p, size_t n, const char *why)
{
    UNUSED;
    dh_annotate_benign(p, n, why);
}

ANNOTATION(WTFAnnotateBenignRaceSized, const volatile void *p, size_t n, const char *why)
{
    UNUSED;
    dh_annotate_benign(p, n, why);
}

ANNOTATION(AnnotateBenignRace, const volatile void *p, const char *why)
{
    UNUSED;
    dh_annotate_benign(p, 1, why);
}

/* The race may occur; if it does not, that is no error here. */
ANNOTATION(AnnotateExpectRace, const volatile void *p, const char *why)
{
    UNUSED;
    dh_annotate_benign(p, 1, why);
}

/* ---- Regions. As in ThreadSanitizer, neither reads nor writes count in either of the first two. ---- */

#define REGION(name, how) \
    ANNOTATION(name)      \
    {                     \
        UNUSED;           \
        how();            \
    }

REGION(AnnotateIgnoreReadsBegin, dh_lard_untracked_begin)
REGION(AnnotateIgnoreReadsEnd, dh_lard_untracked_end)
REGION(AnnotateIgnoreWritesBegin, dh_lard_untracked_begin)
REGION(AnnotateIgnoreWritesEnd, dh_lard_untracked_end)
REGION(AnnotateIgnoreSyncBegin, dh_lard_unordered_begin)
REGION(AnnotateIgnoreSyncEnd, dh_lard_unordered_end)

/* ---- The rest ---- */

ANNOTATION(AnnotateThreadName, const char *name)
{
    UNUSED;
    dh_annotate_thread_name(name);
}

/* For other detectors: locksets, tracing, uninitialised memory. */
#define NOTHING(name, ...)          \
    ANNOTATION(name, ##__VA_ARGS__) \
    {                               \
        UNUSED;                     \
    }
#define POINTER const volatile void *p __attribute__((unused))
#define SIZE size_t n __attribute__((unused))
NOTHING(AnnotateMutexIsUsedAsCondVar, POINTER)
NOTHING(AnnotateMutexIsNotPHB, POINTER)
NOTHING(AnnotateUnpublishMemoryRange, POINTER, SIZE)
NOTHING(AnnotateTraceMemory, POINTER)
NOTHING(AnnotateNoOp, POINTER)
NOTHING(AnnotateMemoryIsInitialized, POINTER, SIZE)
NOTHING(AnnotateMemoryIsUninitialized, POINTER, SIZE)
NOTHING(AnnotateEnableRaceDetection, int enable __attribute__((unused)))
NOTHING(AnnotateFlushExpectedRaces)
NOTHING(AnnotateFlushState)

DH_COMPAT int RunningOnValgrind(void)
{
    return 0;
}

DH_COMPAT double ValgrindSlowdown(void)
{
    return 1.0;
}

DH_COMPAT const char *ThreadSanitizerQuery(const char *query)
{
    (void)query;
    return "1"; /* "pure_happens_before", the only query there is */
}

/* ---- deadheat/annotations.h ---- */

DH_EXPORT void dh_annotate_benign(const volatile void *p, size_t n, const char *why)
{
    (void)why;
    DH_COMPAT_ENTER();
    dh_benign_add(p, n);
    dh_scope_end(&sc);
}

DH_EXPORT void dh_annotate_checked(const volatile void *p, size_t n)
{
    DH_COMPAT_ENTER();
    dh_benign_remove(p, n);
    dh_sink_clear(sc.t, p, n);
    dh_scope_end(&sc);
}

DH_EXPORT void dh_annotate_forget(const volatile void *object)
{
    DH_COMPAT_ENTER();
    dh_sink_forget(object, 1);
    dh_scope_end(&sc);
}

DH_EXPORT void dh_annotate_lock_created(const volatile void *lock)
{
    lock_created_or_destroyed(lock, __builtin_return_address(0));
}

DH_EXPORT void dh_annotate_lock_destroyed(const volatile void *lock)
{
    lock_created_or_destroyed(lock, __builtin_return_address(0));
}

DH_EXPORT void dh_annotate_lock_acquired(const volatile void *lock, int exclusive)
{
    lock_acquired(lock, exclusive != 0, __builtin_return_address(0));
}

DH_EXPORT size_t dh_annotate_clean_block(const volatile void *p)
{
    struct dh_heap_block block;
    DH_COMPAT_ENTER(0);
    bool found = dh_heap_find((uptr)p, &block) && !block.freed;
    if (found)
        dh_sink_clear(sc.t, (void *)block.start, block.size);
    dh_scope_end(&sc);
    return found ? block.size : 0;
}

DH_EXPORT void dh_annotate_thread_name(const char *name)
{
    DH_COMPAT_ENTER();
    if (name)
        dh_thread_set_name(sc.t, name);
    dh_scope_end(&sc);
}
