/*
 * intercept/cond.c - POSIX condition variables.
 *
 * There is no edge from signal to wait: POSIX orders through the mutex only, a wait may return without any
 * signal (so a program that relies on the signal alone is wrong), and an edge here would hide exactly those
 * programs' races. waiting.h has the edges there are.
 */
#define _GNU_SOURCE 1
#include <pthread.h>

#include "runtime/intercept/waiting.h"

DH_INTERCEPTOR(int, pthread_cond_wait, pthread_cond_t *c, pthread_mutex_t *m)
{
    DH_WAIT(c, m, pthread_cond_wait, c, m);
}

DH_INTERCEPTOR(int, pthread_cond_timedwait, pthread_cond_t *c, pthread_mutex_t *m,
               const struct timespec *limit)
{
    DH_WAIT(c, m, pthread_cond_timedwait, c, m, limit);
}

DH_INTERCEPTOR(int, pthread_cond_clockwait, pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
               const struct timespec *limit)
{
    DH_WAIT(c, m, pthread_cond_clockwait, c, m, clock, limit);
}

DH_INTERCEPTOR(int, pthread_cond_signal, pthread_cond_t *c)
{
    DH_ENTER(pthread_cond_signal, c);
    dh_object_notify(sc.t, c);
    DH_RETURN(REAL(pthread_cond_signal)(c));
}

DH_INTERCEPTOR(int, pthread_cond_broadcast, pthread_cond_t *c)
{
    DH_ENTER(pthread_cond_broadcast, c);
    dh_object_notify(sc.t, c);
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
