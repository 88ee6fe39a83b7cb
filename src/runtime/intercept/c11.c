/*
 * intercept/c11.c - C11 mutexes, condition variables and call_once.
 *
 * libc's versions call its POSIX ones from inside, where nothing is interposed, so each is intercepted by
 * itself. The edges are those of the POSIX functions of the same purpose. Threads are in
 * intercept/thread.c, call_once beside pthread_once in intercept/once.c.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <threads.h>

#include "runtime/intercept/waiting.h"

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "a C11 mutex is a POSIX mutex underneath");

static void locked(struct dh_scope *sc, mtx_t *m, int rc, u32 how)
{
    if (rc == thrd_error)
        return;
    int kind = ((pthread_mutex_t *)m)->__data.__kind & 3;
    dh_object_use(sc->t, m); /* even by an attempt that fails because the mutex is locked */
    if (rc != thrd_success)
        return;
    dh_order_lock(sc->t, m, (kind == PTHREAD_MUTEX_RECURSIVE_NP ? DH_LOCK_RECURSIVE : 0) | how);
}

DH_INTERCEPTOR(int, mtx_init, mtx_t *m, int type)
{
    DH_ENTER(mtx_init, m, type);
    dh_object_new(sc.t, m, sizeof(*m));
    DH_RETURN(REAL(mtx_init)(m, type));
}

DH_INTERCEPTOR(void, mtx_destroy, mtx_t *m)
{
    DH_ENTER(mtx_destroy, m);
    dh_object_destroy(sc.t, m, sizeof(*m));
    REAL(mtx_destroy)(m);
    DH_RETURN_VOID;
}

DH_INTERCEPTOR(int, mtx_lock, mtx_t *m)
{
    DH_ENTER(mtx_lock, m);
    int rc = DH_BLOCKING(REAL(mtx_lock)(m));
    locked(&sc, m, rc, 0);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, mtx_trylock, mtx_t *m)
{
    DH_ENTER(mtx_trylock, m);
    int rc = REAL(mtx_trylock)(m);
    locked(&sc, m, rc, DH_LOCK_TRY);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, mtx_timedlock, mtx_t *m, const struct timespec *limit)
{
    DH_ENTER(mtx_timedlock, m, limit);
    int rc = DH_BLOCKING(REAL(mtx_timedlock)(m, limit));
    locked(&sc, m, rc, DH_LOCK_TRY);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, mtx_unlock, mtx_t *m)
{
    DH_ENTER(mtx_unlock, m);
    if (!dh_mutex_refuses(sc.t, (pthread_mutex_t *)m))
        dh_order_unlock(sc.t, m, false);
    DH_RETURN(REAL(mtx_unlock)(m));
}

DH_INTERCEPTOR(int, cnd_init, cnd_t *c)
{
    DH_ENTER(cnd_init, c);
    dh_object_new(sc.t, c, sizeof(*c));
    DH_RETURN(REAL(cnd_init)(c));
}

DH_INTERCEPTOR(void, cnd_destroy, cnd_t *c)
{
    DH_ENTER(cnd_destroy, c);
    dh_object_destroy(sc.t, c, sizeof(*c));
    dh_scope_block(&sc);
    REAL(cnd_destroy)(c);
    dh_scope_unblock(&sc);
    DH_RETURN_VOID;
}

DH_INTERCEPTOR(int, cnd_signal, cnd_t *c)
{
    DH_ENTER(cnd_signal, c);
    dh_object_notify(sc.t, c);
    DH_RETURN(REAL(cnd_signal)(c));
}

DH_INTERCEPTOR(int, cnd_broadcast, cnd_t *c)
{
    DH_ENTER(cnd_broadcast, c);
    dh_object_notify(sc.t, c);
    DH_RETURN(REAL(cnd_broadcast)(c));
}

DH_INTERCEPTOR(int, cnd_wait, cnd_t *c, mtx_t *m)
{
    DH_WAIT(c, m, cnd_wait, c, m);
}

DH_INTERCEPTOR(int, cnd_timedwait, cnd_t *c, mtx_t *m, const struct timespec *limit)
{
    DH_WAIT(c, m, cnd_timedwait, c, m, limit);
}
