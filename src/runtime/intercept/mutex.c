/*
 * intercept/mutex.c - POSIX mutexes of every type, and spin locks. The C11 mutexes are in intercept/c11.c.
 *
 * Edges: unlock happens before the next lock. A lock is recorded after the real one succeeded, an unlock
 * before the real one, so that the next owner finds what this one published. Failed attempts create no
 * ordering. EOWNERDEAD (a robust mutex whose owner died) means "locked": the end of the owner counts as its
 * unlock, since the kernel then passes the mutex to a thread that repairs the state.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <pthread.h>

#include "base/sys.h"
#include "runtime/intercept/intercept.h"
#include "runtime/threads/openmp.h"
#include "runtime/threads/thread.h"

enum { ROBUST = 16 }; /* libc's bit in __kind */

/* libc keeps the type in the low two bits of __kind; higher bits are robustness and protocol. */
static u32 flags_of(const pthread_mutex_t *m)
{
    u32 robust = m->__data.__kind & ROBUST ? DH_LOCK_ROBUST : 0;
    return (m->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP ? DH_LOCK_RECURSIVE | robust : robust;
}

/* The thread ends: release its robust mutexes. Other locks it holds will never be acquired again. */
void dh_mutex_bequeath(struct dh_thread *t)
{
    for (u32 i = t->locks.n; i-- > 0;)
        if (t->held[i].flags & DH_LOCK_ROBUST)
            dh_order_unlock(t, (const void *)t->held[i].lock, true);
}

/*
 * Will libc refuse the unlock, because the mutex checks its owner and that is somebody else? Then nothing is
 * published. Asked before the real unlock, since after it others may already have locked.
 */
bool dh_mutex_refuses(const struct dh_thread *t, const pthread_mutex_t *m)
{
    for (u32 i = t->locks.n; i-- > 0;)
        if (t->held[i].lock == (uptr)m)
            return false;
    int kind = m->__data.__kind & 3;
    bool robust = m->__data.__kind & ROBUST;
    if (!robust && kind != PTHREAD_MUTEX_RECURSIVE_NP && kind != PTHREAD_MUTEX_ERRORCHECK_NP)
        return false;
    return m->__data.__owner != dh_sys_gettid();
}

static void locked(struct dh_scope *sc, pthread_mutex_t *m, int rc, u32 how)
{
    if (rc == EINVAL || dh_openmp_owns(m))
        return;
    dh_object_use(sc->t, m); /* even by an attempt that fails because the mutex is locked */
    if (rc == 0 || rc == EOWNERDEAD)
        dh_order_lock(sc->t, m, flags_of(m) | how);
}

DH_INTERCEPTOR(int, pthread_mutex_lock, pthread_mutex_t *m)
{
    DH_ENTER(pthread_mutex_lock, m);
    int rc = DH_BLOCKING(REAL(pthread_mutex_lock)(m));
    locked(&sc, m, rc, 0);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_mutex_trylock, pthread_mutex_t *m)
{
    DH_ENTER(pthread_mutex_trylock, m);
    int rc = REAL(pthread_mutex_trylock)(m);
    locked(&sc, m, rc, DH_LOCK_TRY);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_mutex_timedlock, pthread_mutex_t *m, const struct timespec *limit)
{
    DH_ENTER(pthread_mutex_timedlock, m, limit);
    int rc = DH_BLOCKING(REAL(pthread_mutex_timedlock)(m, limit));
    locked(&sc, m, rc, DH_LOCK_TRY);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_mutex_clocklock, pthread_mutex_t *m, clockid_t clock,
               const struct timespec *limit)
{
    DH_ENTER(pthread_mutex_clocklock, m, clock, limit);
    int rc = DH_BLOCKING(REAL(pthread_mutex_clocklock)(m, clock, limit));
    locked(&sc, m, rc, DH_LOCK_TRY);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_mutex_unlock, pthread_mutex_t *m)
{
    DH_ENTER(pthread_mutex_unlock, m);
    if (!dh_mutex_refuses(sc.t, m) && !dh_openmp_owns(m))
        dh_order_unlock(sc.t, m, false);
    DH_RETURN(REAL(pthread_mutex_unlock)(m));
}

DH_INTERCEPTOR(int, pthread_mutex_init, pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
    DH_ENTER(pthread_mutex_init, m, attr);
    dh_object_new(sc.t, m, sizeof(*m));
    DH_RETURN(REAL(pthread_mutex_init)(m, attr));
}

DH_INTERCEPTOR(int, pthread_mutex_destroy, pthread_mutex_t *m)
{
    DH_ENTER(pthread_mutex_destroy, m);
    int rc = REAL(pthread_mutex_destroy)(m);
    if (rc == 0)
        dh_object_destroy(sc.t, m, sizeof(*m));
    DH_RETURN(rc);
}

/* ---- Spin locks ---- */

DH_INTERCEPTOR(int, pthread_spin_init, pthread_spinlock_t *s, int shared)
{
    DH_ENTER(pthread_spin_init, s, shared);
    dh_object_new(sc.t, s, sizeof(*s));
    DH_RETURN(REAL(pthread_spin_init)(s, shared));
}

DH_INTERCEPTOR(int, pthread_spin_destroy, pthread_spinlock_t *s)
{
    DH_ENTER(pthread_spin_destroy, s);
    dh_object_destroy(sc.t, s, sizeof(*s));
    DH_RETURN(REAL(pthread_spin_destroy)(s));
}

DH_INTERCEPTOR(int, pthread_spin_lock, pthread_spinlock_t *s)
{
    DH_ENTER(pthread_spin_lock, s);
    int rc = DH_BLOCKING(REAL(pthread_spin_lock)(s));
    if (rc == 0) {
        dh_object_use(sc.t, s);
        dh_order_lock(sc.t, s, DH_LOCK_SPIN);
    }
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_spin_trylock, pthread_spinlock_t *s)
{
    DH_ENTER(pthread_spin_trylock, s);
    int rc = REAL(pthread_spin_trylock)(s);
    dh_object_use(sc.t, s);
    if (rc == 0)
        dh_order_lock(sc.t, s, DH_LOCK_SPIN | DH_LOCK_TRY);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_spin_unlock, pthread_spinlock_t *s)
{
    DH_ENTER(pthread_spin_unlock, s);
    dh_order_unlock(sc.t, s, false);
    DH_RETURN(REAL(pthread_spin_unlock)(s));
}
