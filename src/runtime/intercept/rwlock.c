/*
 * intercept/rwlock.c - POSIX reader-writer locks.
 *
 * Edges: a write unlock happens before every later lock; a read unlock happens before later write
 * locks only. The runtime remembers in which mode a thread holds the lock, so unlock is one function.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <pthread.h>

#include "runtime/intercept/intercept.h"

static void locked(struct dh_scope *sc, pthread_rwlock_t *l, int rc, u32 flags)
{
    if (rc == EINVAL)
        return;
    dh_object_use(sc->t, l); /* even by an attempt that fails because the lock is held */
    if (rc == 0)
        dh_order_lock(sc->t, l, flags);
}

DH_INTERCEPTOR(int, pthread_rwlock_init, pthread_rwlock_t *l, const pthread_rwlockattr_t *attr)
{
    DH_ENTER(pthread_rwlock_init, l, attr);
    dh_object_new(sc.t, l, sizeof(*l));
    DH_RETURN(REAL(pthread_rwlock_init)(l, attr));
}

DH_INTERCEPTOR(int, pthread_rwlock_destroy, pthread_rwlock_t *l)
{
    DH_ENTER(pthread_rwlock_destroy, l);
    dh_object_destroy(sc.t, l, sizeof(*l));
    DH_RETURN(REAL(pthread_rwlock_destroy)(l));
}

DH_INTERCEPTOR(int, pthread_rwlock_rdlock, pthread_rwlock_t *l)
{
    DH_ENTER(pthread_rwlock_rdlock, l);
    int rc = DH_BLOCKING(REAL(pthread_rwlock_rdlock)(l));
    locked(&sc, l, rc, DH_LOCK_READ);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_rwlock_tryrdlock, pthread_rwlock_t *l)
{
    DH_ENTER(pthread_rwlock_tryrdlock, l);
    int rc = REAL(pthread_rwlock_tryrdlock)(l);
    locked(&sc, l, rc, DH_LOCK_READ | DH_LOCK_TRY);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_rwlock_timedrdlock, pthread_rwlock_t *l, const struct timespec *limit)
{
    DH_ENTER(pthread_rwlock_timedrdlock, l, limit);
    int rc = DH_BLOCKING(REAL(pthread_rwlock_timedrdlock)(l, limit));
    locked(&sc, l, rc, DH_LOCK_READ | DH_LOCK_TRY);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_rwlock_clockrdlock, pthread_rwlock_t *l, clockid_t clock,
               const struct timespec *limit)
{
    DH_ENTER(pthread_rwlock_clockrdlock, l, clock, limit);
    int rc = DH_BLOCKING(REAL(pthread_rwlock_clockrdlock)(l, clock, limit));
    locked(&sc, l, rc, DH_LOCK_READ | DH_LOCK_TRY);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_rwlock_wrlock, pthread_rwlock_t *l)
{
    DH_ENTER(pthread_rwlock_wrlock, l);
    int rc = DH_BLOCKING(REAL(pthread_rwlock_wrlock)(l));
    locked(&sc, l, rc, 0);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_rwlock_trywrlock, pthread_rwlock_t *l)
{
    DH_ENTER(pthread_rwlock_trywrlock, l);
    int rc = REAL(pthread_rwlock_trywrlock)(l);
    locked(&sc, l, rc, DH_LOCK_TRY);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_rwlock_timedwrlock, pthread_rwlock_t *l, const struct timespec *limit)
{
    DH_ENTER(pthread_rwlock_timedwrlock, l, limit);
    int rc = DH_BLOCKING(REAL(pthread_rwlock_timedwrlock)(l, limit));
    locked(&sc, l, rc, DH_LOCK_TRY);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_rwlock_clockwrlock, pthread_rwlock_t *l, clockid_t clock,
               const struct timespec *limit)
{
    DH_ENTER(pthread_rwlock_clockwrlock, l, clock, limit);
    int rc = DH_BLOCKING(REAL(pthread_rwlock_clockwrlock)(l, clock, limit));
    locked(&sc, l, rc, DH_LOCK_TRY);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_rwlock_unlock, pthread_rwlock_t *l)
{
    DH_ENTER(pthread_rwlock_unlock, l);
    dh_order_unlock(sc.t, l, false);
    DH_RETURN(REAL(pthread_rwlock_unlock)(l));
}
