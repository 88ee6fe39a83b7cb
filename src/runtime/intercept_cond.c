/*
 * intercept_cond.c - POSIX condition variables.
 *
 * Edges: a wait unlocks the mutex and locks it again, nothing more. There is no edge from signal to wait:
 * POSIX orders through the mutex only, a wait may return without any signal (so a program that relies on
 * the signal alone is wrong), and an edge here would hide exactly those programs' races.
 *
 * A thread cancelled in a wait holds the mutex again when its clean-up handlers run: libc relocks it while
 * unwinding, and so do we.
 */
#define _GNU_SOURCE 1
#include <pthread.h>

#include "runtime/intercept.h"

struct waiting {
    struct dh_scope *sc;
    pthread_mutex_t *m; /* NULL: done */
    u32 levels;
};

static struct waiting wait_begin(struct dh_scope *sc, pthread_cond_t *c, pthread_mutex_t *m)
{
    dh_object_use(sc->t, c);
    return (struct waiting){sc, m, dh_mutex_unlock(sc->t, m, true)};
}

static void wait_end(struct waiting *w, int rc)
{
    if (rc != ENOTRECOVERABLE && w->levels != 0) /* then the mutex was not locked again */
        dh_mutex_relock(w->sc->t, w->m, w->levels);
    w->m = NULL;
}

/* Runs at the end of scope; finds work only if the wait was left by unwinding. */
static void wait_unwound(struct waiting *w)
{
    if (DH_LIKELY(w->m == NULL))
        return;
    dh_scope_unblock(w->sc);
    wait_end(w, 0);
}

#define WAITING(c, m) struct waiting w __attribute__((cleanup(wait_unwound))) = wait_begin(&sc, c, m)

DH_INTERCEPTOR(int, pthread_cond_wait, pthread_cond_t *c, pthread_mutex_t *m)
{
    DH_ENTER(pthread_cond_wait, c, m);
    WAITING(c, m);
    int rc = DH_BLOCKING(REAL(pthread_cond_wait)(c, m));
    wait_end(&w, rc);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_cond_timedwait, pthread_cond_t *c, pthread_mutex_t *m,
               const struct timespec *limit)
{
    DH_ENTER(pthread_cond_timedwait, c, m, limit);
    WAITING(c, m);
    int rc = DH_BLOCKING(REAL(pthread_cond_timedwait)(c, m, limit));
    wait_end(&w, rc);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_cond_clockwait, pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
               const struct timespec *limit)
{
    DH_ENTER(pthread_cond_clockwait, c, m, clock, limit);
    WAITING(c, m);
    int rc = DH_BLOCKING(REAL(pthread_cond_clockwait)(c, m, clock, limit));
    wait_end(&w, rc);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_cond_signal, pthread_cond_t *c)
{
    DH_ENTER(pthread_cond_signal, c);
    dh_object_use(sc.t, c);
    DH_RETURN(REAL(pthread_cond_signal)(c));
}

DH_INTERCEPTOR(int, pthread_cond_broadcast, pthread_cond_t *c)
{
    DH_ENTER(pthread_cond_broadcast, c);
    dh_object_use(sc.t, c);
    DH_RETURN(REAL(pthread_cond_broadcast)(c));
}

DH_INTERCEPTOR(int, pthread_cond_init, pthread_cond_t *c, const pthread_condattr_t *attr)
{
    DH_ENTER(pthread_cond_init, c, attr);
    dh_object_new(sc.t, c, sizeof(*c));
    DH_RETURN(REAL(pthread_cond_init)(c, attr));
}

/* May block: libc waits until the last woken waiter has left the object. */
DH_INTERCEPTOR(int, pthread_cond_destroy, pthread_cond_t *c)
{
    DH_ENTER(pthread_cond_destroy, c);
    dh_object_destroy(sc.t, c, sizeof(*c));
    DH_RETURN(DH_BLOCKING(REAL(pthread_cond_destroy)(c)));
}
