/*
 * intercept/sem.c - POSIX semaphores.
 *
 * Edges: every post happens before every later successful wait. A semaphore does not say which post a wait
 * consumed, so a wait is ordered after all posts so far; that may hide a race between two posters' data,
 * never invent one. sem_getvalue creates no ordering (it is not among POSIX's synchronising functions).
 * sem_open returns the same address to every opener of a name in the process, and the last sem_close frees
 * it: the next one there is another semaphore, and must not inherit the clocks of this one.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <semaphore.h>
#include <stdarg.h>
#include <time.h>

#include "base/sys.h"
#include "runtime/intercept/intercept.h"
#include "runtime/intercept/touch.h"
#include "runtime/sink/sink.h"

static void waited(struct dh_scope *sc, sem_t *s, int rc)
{
    if (rc != 0 && errno == EINVAL)
        return;
    dh_object_use(sc->t, s); /* even by an attempt that fails because the value is 0 */
    if (rc == 0)
        dh_order_acquire(sc->t, s);
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
    dh_order_release(sc.t, s);
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

DH_INTERCEPTOR(int, sem_getvalue, sem_t *s, int *ret_value)
{
    DH_ENTER(sem_getvalue, s, ret_value);
    int rc = REAL(sem_getvalue)(s, ret_value);
    dh_object_use(sc.t, s);
    if (rc == 0)
        DH_TOUCH_OUT(sc.t, ret_value);
    DH_RETURN(rc);
}

/* ---- Names ---- */

/*
 * How often each is open: libc counts, but does not reveal it. The first opener forgets what was at that
 * address before; others wait for it. A close is counted after libc's, so that a semaphore still in use is
 * never mistaken for a new one (the opposite mistake leaves an extra edge). Addresses keep their slots; those
 * beyond the last slot are not remembered.
 */
enum { BEING_OPENED = -1 };
static struct {
    const sem_t *at;
    int count;
} names[256];

static int *count_of(const sem_t *s)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(names); i++) {
        const sem_t *at = __atomic_load_n(&names[i].at, __ATOMIC_ACQUIRE);
        if (at == s || (at == NULL && (__atomic_compare_exchange_n(&names[i].at, &at, s, false,
                                                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
                                       at == s)))
            return &names[i].count;
    }
    return NULL;
}

static void opened(const sem_t *s)
{
    int *count = count_of(s), now;
    if (count == NULL)
        return;
    do {
        while ((now = __atomic_load_n(count, __ATOMIC_ACQUIRE)) == BEING_OPENED)
            dh_sys_yield();
    } while (!__atomic_compare_exchange_n(count, &now, now == 0 ? BEING_OPENED : now + 1, false,
                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    if (now == 0) {
        dh_sink_forget(s, sizeof *s);
        __atomic_store_n(count, 1, __ATOMIC_RELEASE);
    }
}

/* Forked child: a thread that was about to open one does not exist here. */
void dh_intercept_sem_fork_child(void)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(names); i++)
        if (names[i].count == BEING_OPENED)
            names[i].count = 1;
}

/* The mode and the value are there only if the flags say so, as with open. */
DH_INTERCEPTOR(sem_t *, sem_open, const char *name, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = va_arg(ap, mode_t);
    unsigned value = va_arg(ap, unsigned);
    va_end(ap);
    DH_ENTER(sem_open, name, flags, mode, value);
    sem_t *s = DH_BLOCKING(REAL(sem_open)(name, flags, mode, value));
    if (s != SEM_FAILED)
        opened(s);
    DH_RETURN(s);
}

DH_INTERCEPTOR(int, sem_close, sem_t *s)
{
    DH_ENTER(sem_close, s);
    int rc = REAL(sem_close)(s);
    int *count = rc == 0 ? count_of(s) : NULL;
    if (count != NULL && __atomic_load_n(count, __ATOMIC_ACQUIRE) > 0)
        __atomic_sub_fetch(count, 1, __ATOMIC_ACQ_REL);
    DH_RETURN(rc);
}
