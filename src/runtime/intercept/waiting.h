/*
 * waiting.h - waiting at a condition variable, POSIX's or C11's.
 *
 * Edges: a wait unlocks the mutex and locks it again, nothing more. A thread cancelled in a wait holds the
 * mutex again when its clean-up handlers run: libc relocks it while unwinding, and so do we. (libc makes C11
 * waits cancellation points too.)
 */
#ifndef DH_RUNTIME_INTERCEPT_WAITING_H
#define DH_RUNTIME_INTERCEPT_WAITING_H

#include "runtime/intercept/intercept.h"
#include "runtime/sink/sink.h"

/* Before the real signal: a thread woken by it comes later. */
DH_INLINE void dh_object_notify(struct dh_thread *t, void *c)
{
    dh_object_use(t, c);
    dh_sink_notify(t, c);
}

struct dh_waiting {
    struct dh_scope *sc;
    void *m; /* NULL: done */
    u32 kind, levels;
    void *c;
};

DH_INLINE struct dh_waiting dh_waiting_begin(struct dh_scope *sc, void *c, void *m)
{
    dh_object_use(sc->t, c);
    u32 kind = dh_order_lock_kind(sc->t, m);
    return (struct dh_waiting){sc, m, kind, dh_order_unlock(sc->t, m, true), c};
}

DH_INLINE void dh_waiting_end(struct dh_waiting *w, int rc)
{
    if (rc == 0)
        dh_sink_wait(w->sc->t, w->c);
    if (rc != ENOTRECOVERABLE &&
        w->levels != 0) /* then the mutex was not locked again; C11 has no such result */
        dh_order_relock(w->sc->t, w->m, w->kind, w->levels);
    w->m = NULL;
}

/* Runs at the end of scope; finds work only if the wait was left by unwinding. */
DH_INLINE void dh_waiting_unwound(struct dh_waiting *w)
{
    if (DH_LIKELY(w->m == NULL))
        return;
    dh_scope_unblock(w->sc);
    dh_waiting_end(w, 0);
}

/* The body of an interceptor that waits at c, with m locked. */
#define DH_WAIT(c, m, name, ...)                                                                        \
    DH_ENTER(name, __VA_ARGS__);                                                                        \
    struct dh_waiting w __attribute__((cleanup(dh_waiting_unwound))) = dh_waiting_begin(&sc, (c), (m)); \
    int rc = DH_BLOCKING(REAL(name)(__VA_ARGS__));                                                      \
    dh_waiting_end(&w, rc);                                                                             \
    DH_RETURN(rc)

#endif
