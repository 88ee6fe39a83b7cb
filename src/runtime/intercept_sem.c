/*
 * intercept_sem.c - POSIX semaphores.
 *
 * Edges: every post happens before every later successful wait. A semaphore does not say which post a wait
 * consumed, so a wait is ordered after all posts so far; that may hide a race between two posters'
 * data, never invent one. sem_getvalue orders nothing (it is not among POSIX's synchronising functions).
 * Named semaphores need no more: sem_open gives every opener in the process the same address.
 */
#define _GNU_SOURCE 1
#include <semaphore.h>
#include <time.h>

#include "runtime/intercept.h"

static void waited(struct dh_scope *sc, sem_t *s, int rc)
{
    if (rc != 0)
        return;
    dh_object_use(sc->t, s);
    dh_sync_acquire(sc->t, s);
}

DH_INTERCEPTOR(int, sem_init, sem_t *s, int shared, unsigned value)
{
    DH_ENTER(sem_init, s, shared, value);
    dh_object_new(sc.t, s, sizeof(*s));
    DH_RETURN(REAL(sem_init)(s, shared, value));
}

DH_INTERCEPTOR(int, sem_destroy, sem_t *s)
{
    DH_ENTER(sem_destroy, s);
    dh_object_destroy(sc.t, s, sizeof(*s));
    DH_RETURN(REAL(sem_destroy)(s));
}

DH_INTERCEPTOR(int, sem_post, sem_t *s)
{
    DH_ENTER(sem_post, s);
    dh_object_use(sc.t, s);
    dh_sync_release(sc.t, s);
    DH_RETURN(REAL(sem_post)(s));
}

DH_INTERCEPTOR(int, sem_wait, sem_t *s)
{
    DH_ENTER(sem_wait, s);
    int rc = DH_BLOCKING(REAL(sem_wait)(s));
    waited(&sc, s, rc);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, sem_trywait, sem_t *s)
{
    DH_ENTER(sem_trywait, s);
    int rc = REAL(sem_trywait)(s);
    waited(&sc, s, rc);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, sem_timedwait, sem_t *s, const struct timespec *limit)
{
    DH_ENTER(sem_timedwait, s, limit);
    int rc = DH_BLOCKING(REAL(sem_timedwait)(s, limit));
    waited(&sc, s, rc);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, sem_clockwait, sem_t *s, clockid_t clock, const struct timespec *limit)
{
    DH_ENTER(sem_clockwait, s, clock, limit);
    int rc = DH_BLOCKING(REAL(sem_clockwait)(s, clock, limit));
    waited(&sc, s, rc);
    DH_RETURN(rc);
}
