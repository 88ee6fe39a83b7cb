/*
 * annotations.h - the annotation macros of Helgrind, DRD and dynamic_annotations.
 *
 * For code already annotated for these tools: the macros of <valgrind/helgrind.h> and <valgrind/drd.h> that
 * mean something to deadheat. `deadheat cc` finds this header in place of those two, so such code works
 * unchanged; it may also be included by name. docs/guide/compat.md documents each macro; new code should use
 * <deadheat/lard.h>.
 *
 * Compiled by `deadheat cc` the macros call the runtime. Compiled by any other compiler they keep Valgrind's
 * definitions if Valgrind's headers were included first, and are empty otherwise. -DDH_LARD=1 and -DDH_LARD=0
 * work as in lard.h.
 */
#ifndef DEADHEAT_ANNOTATIONS_H
#define DEADHEAT_ANNOTATIONS_H

#include "lard.h"

#ifdef __cplusplus
extern "C" {
#endif

#if DH_LARD
/* Races on these bytes are intended: they are not reported. `why` is for the reader. */
void dh_annotate_benign(const volatile void *p, size_t n, const char *why);
/* Races on these bytes are reported again, and the memory counts as new. */
void dh_annotate_checked(const volatile void *p, size_t n);
/* All releases of this address are forgotten. */
void dh_annotate_forget(const volatile void *object);
/* A lock is created, and later destroyed: both conflict with every use of it that nothing orders with them.
 */
void dh_annotate_lock_created(const volatile void *lock);
void dh_annotate_lock_destroyed(const volatile void *lock);
/* It has been acquired, and is released by dh_lard_unlock. */
void dh_annotate_lock_acquired(const volatile void *lock, int exclusive);
/* The heap block that contains p counts as new. Returns its size, 0 if there is none. */
size_t dh_annotate_clean_block(const volatile void *p);
/* Names the current thread in reports. */
void dh_annotate_thread_name(const char *name);
#endif

#ifdef __cplusplus
}

/* A read that may race, as an expression. */
template <class T> static inline T dh_annotate_unprotected_read(const volatile T &x)
{
    dh_lard_untracked_begin();
    T value = x;
    dh_lard_untracked_end();
    return value;
}
#endif
#endif

/* Valgrind's two headers define some of the same macros, which may have to be redefined. */
#if DH_LARD || !defined(ANNOTATE_HAPPENS_BEFORE)

#undef ANNOTATE_HAPPENS_BEFORE
#undef ANNOTATE_HAPPENS_AFTER
#undef ANNOTATE_HAPPENS_BEFORE_FORGET_ALL
#undef ANNOTATE_CONDVAR_SIGNAL
#undef ANNOTATE_CONDVAR_SIGNAL_ALL
#undef ANNOTATE_CONDVAR_WAIT
#undef ANNOTATE_CONDVAR_LOCK_WAIT
#undef ANNOTATE_PCQ_CREATE
#undef ANNOTATE_PCQ_DESTROY
#undef ANNOTATE_PCQ_PUT
#undef ANNOTATE_PCQ_GET
#undef ANNOTATE_SEM_INIT_PRE
#undef ANNOTATE_SEM_DESTROY_POST
#undef ANNOTATE_SEM_WAIT_PRE
#undef ANNOTATE_SEM_WAIT_POST
#undef ANNOTATE_SEM_POST_PRE
#undef ANNOTATE_BARRIER_INIT
#undef ANNOTATE_BARRIER_DESTROY
#undef ANNOTATE_BARRIER_WAIT_BEFORE
#undef ANNOTATE_BARRIER_WAIT_AFTER
#undef ANNOTATE_RWLOCK_CREATE
#undef ANNOTATE_RWLOCK_DESTROY
#undef ANNOTATE_RWLOCK_ACQUIRED
#undef ANNOTATE_RWLOCK_RELEASED
#undef ANNOTATE_READERLOCK_ACQUIRED
#undef ANNOTATE_WRITERLOCK_ACQUIRED
#undef ANNOTATE_READERLOCK_RELEASED
#undef ANNOTATE_WRITERLOCK_RELEASED
#undef ANNOTATE_NEW_MEMORY
#undef ANNOTATE_PUBLISH_MEMORY_RANGE
#undef ANNOTATE_UNPUBLISH_MEMORY_RANGE
#undef ANNOTATE_BENIGN_RACE
#undef ANNOTATE_BENIGN_RACE_SIZED
#undef ANNOTATE_BENIGN_RACE_STATIC
#undef ANNOTATE_EXPECT_RACE
#undef ANNOTATE_IGNORE_READS_BEGIN
#undef ANNOTATE_IGNORE_READS_END
#undef ANNOTATE_IGNORE_WRITES_BEGIN
#undef ANNOTATE_IGNORE_WRITES_END
#undef ANNOTATE_IGNORE_READS_AND_WRITES_BEGIN
#undef ANNOTATE_IGNORE_READS_AND_WRITES_END
#undef ANNOTATE_IGNORE_SYNC_BEGIN
#undef ANNOTATE_IGNORE_SYNC_END
#undef ANNOTATE_UNPROTECTED_READ
#undef ANNOTATE_THREAD_NAME
#undef ANNOTATE_TRACE_MEMORY
#undef ANNOTATE_PURE_HAPPENS_BEFORE_MUTEX
#undef ANNOTATE_MUTEX_IS_USED_AS_CONDVAR
#undef ANNOTATE_SWAP_MEMORY_RANGE
#undef ANNOTATE_ENABLE_RACE_DETECTION
#undef ANNOTATE_FLUSH_STATE
#undef ANNOTATE_NO_OP
#undef VALGRIND_HG_MUTEX_INIT_POST
#undef VALGRIND_HG_MUTEX_LOCK_PRE
#undef VALGRIND_HG_MUTEX_LOCK_POST
#undef VALGRIND_HG_MUTEX_UNLOCK_PRE
#undef VALGRIND_HG_MUTEX_UNLOCK_POST
#undef VALGRIND_HG_MUTEX_DESTROY_PRE
#undef VALGRIND_HG_SEM_INIT_POST
#undef VALGRIND_HG_SEM_WAIT_POST
#undef VALGRIND_HG_SEM_POST_PRE
#undef VALGRIND_HG_SEM_DESTROY_PRE
#undef VALGRIND_HG_CLEAN_MEMORY
#undef VALGRIND_HG_CLEAN_MEMORY_HEAPBLOCK
#undef VALGRIND_HG_DISABLE_CHECKING
#undef VALGRIND_HG_ENABLE_CHECKING
#undef DRD_IGNORE_VAR
#undef DRD_STOP_IGNORING_VAR

/* The dh_annotate_* functions exist only where the runtime is linked. */
#if DH_LARD
#define DH_ANNOTATE(call) call
#else
#define DH_ANNOTATE(call) ((void)0)
#endif

/* Order. */
#define ANNOTATE_HAPPENS_BEFORE(object) dh_lard_release((const volatile void *)(object))
#define ANNOTATE_HAPPENS_AFTER(object) dh_lard_acquire((const volatile void *)(object))
#define ANNOTATE_HAPPENS_BEFORE_FORGET_ALL(object) \
    DH_ANNOTATE(dh_annotate_forget((const volatile void *)(object)))
#define ANNOTATE_CONDVAR_SIGNAL(cond) ANNOTATE_HAPPENS_BEFORE(cond)
#define ANNOTATE_CONDVAR_SIGNAL_ALL(cond) ANNOTATE_HAPPENS_BEFORE(cond)
#define ANNOTATE_CONDVAR_WAIT(cond) ANNOTATE_HAPPENS_AFTER(cond)
#define ANNOTATE_CONDVAR_LOCK_WAIT(cond, lock) ANNOTATE_HAPPENS_AFTER(cond)
#define ANNOTATE_PCQ_CREATE(queue) ANNOTATE_HAPPENS_BEFORE_FORGET_ALL(queue)
#define ANNOTATE_PCQ_DESTROY(queue) ANNOTATE_HAPPENS_BEFORE_FORGET_ALL(queue)
#define ANNOTATE_PCQ_PUT(queue) ANNOTATE_HAPPENS_BEFORE(queue)
#define ANNOTATE_PCQ_GET(queue) ANNOTATE_HAPPENS_AFTER(queue)
#define ANNOTATE_SEM_INIT_PRE(sem, value) ANNOTATE_HAPPENS_BEFORE_FORGET_ALL(sem)
#define ANNOTATE_SEM_DESTROY_POST(sem) ANNOTATE_HAPPENS_BEFORE_FORGET_ALL(sem)
#define ANNOTATE_SEM_WAIT_PRE(sem) ((void)(sem))
#define ANNOTATE_SEM_WAIT_POST(sem) ANNOTATE_HAPPENS_AFTER(sem)
#define ANNOTATE_SEM_POST_PRE(sem) ANNOTATE_HAPPENS_BEFORE(sem)
#define ANNOTATE_BARRIER_INIT(barrier, count, again) ANNOTATE_HAPPENS_BEFORE_FORGET_ALL(barrier)
#define ANNOTATE_BARRIER_DESTROY(barrier) ANNOTATE_HAPPENS_BEFORE_FORGET_ALL(barrier)
#define ANNOTATE_BARRIER_WAIT_BEFORE(barrier) ANNOTATE_HAPPENS_BEFORE(barrier)
#define ANNOTATE_BARRIER_WAIT_AFTER(barrier) ANNOTATE_HAPPENS_AFTER(barrier)

/* Locks. */
#define ANNOTATE_RWLOCK_CREATE(lock) DH_ANNOTATE(dh_annotate_lock_created((const volatile void *)(lock)))
#define ANNOTATE_RWLOCK_DESTROY(lock) DH_ANNOTATE(dh_annotate_lock_destroyed((const volatile void *)(lock)))
#define ANNOTATE_RWLOCK_ACQUIRED(lock, is_write) \
    DH_ANNOTATE(dh_annotate_lock_acquired((const volatile void *)(lock), (is_write)))
#define ANNOTATE_RWLOCK_RELEASED(lock, is_write) \
    ((void)(is_write), dh_lard_unlock((const volatile void *)(lock)))
#define ANNOTATE_READERLOCK_ACQUIRED(lock) ANNOTATE_RWLOCK_ACQUIRED(lock, 0)
#define ANNOTATE_WRITERLOCK_ACQUIRED(lock) ANNOTATE_RWLOCK_ACQUIRED(lock, 1)
#define ANNOTATE_READERLOCK_RELEASED(lock) ANNOTATE_RWLOCK_RELEASED(lock, 0)
#define ANNOTATE_WRITERLOCK_RELEASED(lock) ANNOTATE_RWLOCK_RELEASED(lock, 1)
#define VALGRIND_HG_MUTEX_INIT_POST(mutex, recursive) ANNOTATE_RWLOCK_CREATE(mutex)
#define VALGRIND_HG_MUTEX_LOCK_PRE(mutex, is_try) ((void)(mutex))
#define VALGRIND_HG_MUTEX_LOCK_POST(mutex) ANNOTATE_RWLOCK_ACQUIRED(mutex, 1)
#define VALGRIND_HG_MUTEX_UNLOCK_PRE(mutex) ANNOTATE_RWLOCK_RELEASED(mutex, 1)
#define VALGRIND_HG_MUTEX_UNLOCK_POST(mutex) ((void)(mutex))
#define VALGRIND_HG_MUTEX_DESTROY_PRE(mutex) ANNOTATE_RWLOCK_DESTROY(mutex)
#define VALGRIND_HG_SEM_INIT_POST(sem, value) ANNOTATE_SEM_INIT_PRE(sem, value)
#define VALGRIND_HG_SEM_WAIT_POST(sem) ANNOTATE_SEM_WAIT_POST(sem)
#define VALGRIND_HG_SEM_POST_PRE(sem) ANNOTATE_SEM_POST_PRE(sem)
#define VALGRIND_HG_SEM_DESTROY_PRE(sem) ANNOTATE_SEM_DESTROY_POST(sem)

/* Memory. */
#define ANNOTATE_NEW_MEMORY(p, n) dh_lard_clear((const volatile void *)(p), (n))
#define ANNOTATE_PUBLISH_MEMORY_RANGE(p, n) ANNOTATE_NEW_MEMORY(p, n)
#define ANNOTATE_UNPUBLISH_MEMORY_RANGE(p, n) ((void)0)
#define VALGRIND_HG_CLEAN_MEMORY(p, n) ANNOTATE_NEW_MEMORY(p, n)
#if DH_LARD
#define VALGRIND_HG_CLEAN_MEMORY_HEAPBLOCK(p) dh_annotate_clean_block((const volatile void *)(p))
#else
#define VALGRIND_HG_CLEAN_MEMORY_HEAPBLOCK(p) ((size_t)0)
#endif
#define ANNOTATE_BENIGN_RACE_SIZED(p, n, why) \
    DH_ANNOTATE(dh_annotate_benign((const volatile void *)(p), (n), (why)))
#define ANNOTATE_BENIGN_RACE(p, why) ANNOTATE_BENIGN_RACE_SIZED(p, sizeof(*(p)), why)
#define ANNOTATE_EXPECT_RACE(p, why) ANNOTATE_BENIGN_RACE_SIZED(p, 1, why)
#define VALGRIND_HG_DISABLE_CHECKING(p, n) ANNOTATE_BENIGN_RACE_SIZED(p, n, "")
#define VALGRIND_HG_ENABLE_CHECKING(p, n) DH_ANNOTATE(dh_annotate_checked((const volatile void *)(p), (n)))
#define DRD_IGNORE_VAR(x) ANNOTATE_BENIGN_RACE_SIZED(&(x), sizeof(x), "")
#define DRD_STOP_IGNORING_VAR(x) VALGRIND_HG_ENABLE_CHECKING(&(x), sizeof(x))

/* Regions of the current thread. In the first two neither reads nor writes count. */
#define ANNOTATE_IGNORE_READS_BEGIN() dh_lard_untracked_begin()
#define ANNOTATE_IGNORE_READS_END() dh_lard_untracked_end()
#define ANNOTATE_IGNORE_WRITES_BEGIN() dh_lard_untracked_begin()
#define ANNOTATE_IGNORE_WRITES_END() dh_lard_untracked_end()
#define ANNOTATE_IGNORE_READS_AND_WRITES_BEGIN() dh_lard_untracked_begin()
#define ANNOTATE_IGNORE_READS_AND_WRITES_END() dh_lard_untracked_end()
#define ANNOTATE_IGNORE_SYNC_BEGIN() dh_lard_unordered_begin()
#define ANNOTATE_IGNORE_SYNC_END() dh_lard_unordered_end()

/* Names. */
#define ANNOTATE_THREAD_NAME(name) DH_ANNOTATE(dh_annotate_thread_name(name))

/* For lockset detectors and for tracing: no effect here. */
#define ANNOTATE_TRACE_MEMORY(p) ((void)0)
#define ANNOTATE_PURE_HAPPENS_BEFORE_MUTEX(mutex) ((void)0)
#define ANNOTATE_MUTEX_IS_USED_AS_CONDVAR(mutex) ((void)0)
#define ANNOTATE_SWAP_MEMORY_RANGE(p, n) ((void)0)
#define ANNOTATE_ENABLE_RACE_DETECTION(enable) ((void)0)
#define ANNOTATE_FLUSH_STATE() ((void)0)
#define ANNOTATE_NO_OP(arg) ((void)0)

#ifdef __cplusplus
/* A variable that may race. */
#define ANNOTATE_UNPROTECTED_READ(x) dh_annotate_unprotected_read(x)
#define ANNOTATE_BENIGN_RACE_STATIC(variable, why)                                       \
    namespace                                                                            \
    {                                                                                    \
    struct variable##_annotator {                                                        \
        variable##_annotator()                                                           \
        {                                                                                \
            ANNOTATE_BENIGN_RACE_SIZED(&variable, sizeof(variable), #variable ": " why); \
        }                                                                                \
    };                                                                                   \
    static variable##_annotator the_##variable##_annotator;                              \
    }
#else
#define ANNOTATE_UNPROTECTED_READ(x)         \
    __extension__({                          \
        dh_lard_untracked_begin();           \
        __typeof__(x) annotated_value = (x); \
        dh_lard_untracked_end();             \
        annotated_value;                     \
    })
#define ANNOTATE_BENIGN_RACE_STATIC(variable, why)
#endif

#endif
