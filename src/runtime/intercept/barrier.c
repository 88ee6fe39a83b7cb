/*
 * intercept/barrier.c - POSIX barriers.
 *
 * Edges: every arrival at a generation happens before every departure from it, and nothing else: what a fast
 * thread does after generation n must not appear ordered before what a slow one does after
 * generation n, although the fast one may already be waiting for n + 1.
 *
 * So the generation of each arrival must be known exactly, and libc's barrier does not reveal it. Barriers
 * private to the process are therefore implemented here, in libc's 32 bytes; generation g publishes at one of
 * two addresses in turn. With as many threads as the barrier counts, no thread can arrive at g + 2 while
 * another has yet to depart from g; with more threads (legal, rare) such arrivals add edges, which may hide a
 * race and cannot invent one. Barriers shared between processes stay libc's, because the other process may
 * not be ours; they use one address.
 */
#define _GNU_SOURCE 1
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>

#include "base/sys.h"
#include "runtime/intercept/intercept.h"

/* Distinct from anything libc puts there: it leaves the last 12 of its 32 bytes alone. */
#define OURS 0xdeadba44u

struct barrier {
    u64 arrived;   /* arrivals so far; the generation of an arrival is its number / count */
    u64 published; /* arrivals whose release is recorded; the low half is the futex */
    u32 departed;  /* departures so far, modulo 2^32 */
    u32 count;
    u32 pad;
    u32 magic;
};
_Static_assert(sizeof(struct barrier) <= sizeof(pthread_barrier_t), "fits in libc's object");

static u32 *futex_word(struct barrier *b)
{
    return (u32 *)(void *)&b->published; /* little-endian */
}

static const void *clock_address(const struct barrier *b, u64 generation)
{
    return (const char *)b + (generation & 1 ? sizeof(u64) : 0);
}

/* Returns true in the thread that completed the generation. */
static bool pass(struct barrier *b, struct dh_scope *sc)
{
    u64 generation = __atomic_fetch_add(&b->arrived, 1, __ATOMIC_ACQ_REL) / b->count;
    u64 full = (generation + 1) * b->count;
    if (sc != NULL)
        dh_order_release(sc->t, clock_address(b, generation));
    bool last = __atomic_add_fetch(&b->published, 1, __ATOMIC_ACQ_REL) == full;
    if (sc != NULL)
        dh_scope_block(sc);
    if (last) {
        dh_sys6(SYS_futex, (long)futex_word(b), FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
    } else {
        u64 now;
        while ((now = __atomic_load_n(&b->published, __ATOMIC_ACQUIRE)) < full)
            dh_sys6(SYS_futex, (long)futex_word(b), FUTEX_WAIT_PRIVATE, (u32)now, 0, 0, 0);
    }
    if (sc != NULL) {
        dh_scope_unblock(sc);
        dh_order_acquire(sc->t, clock_address(b, generation));
    }
    __atomic_add_fetch(&b->departed, 1, __ATOMIC_RELEASE); /* after this the object may be gone */
    return last;
}

DH_INTERCEPTOR(int, pthread_barrier_init, pthread_barrier_t *p, const pthread_barrierattr_t *attr,
               unsigned count)
{
    DH_RESOLVE(pthread_barrier_init);
    struct dh_scope sc;
    bool in = dh_scope_begin(&sc, __builtin_return_address(0));
    if (in)
        dh_object_new(sc.t, p, sizeof(*p));
    int shared = PTHREAD_PROCESS_PRIVATE;
    if (attr != NULL)
        pthread_barrierattr_getpshared(attr, &shared);
    struct barrier *b = (struct barrier *)p;
    int rc = REAL(pthread_barrier_init)(p, attr, count); /* also checks the arguments */
    if (rc == 0) {
        b->magic = 0;
        if (shared == PTHREAD_PROCESS_PRIVATE)
            *b = (struct barrier){.count = count, .magic = OURS};
    }
    if (in)
        dh_scope_end(&sc);
    return rc;
}

DH_INTERCEPTOR(int, pthread_barrier_wait, pthread_barrier_t *p)
{
    DH_RESOLVE(pthread_barrier_wait);
    struct dh_scope sc;
    bool in = dh_scope_begin(&sc, __builtin_return_address(0));
    struct barrier *b = (struct barrier *)p;
    if (in)
        dh_object_use(sc.t, p);
    int rc;
    if (b->magic == OURS) {
        rc = pass(b, in ? &sc : NULL) ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
    } else if (!in) {
        rc = REAL(pthread_barrier_wait)(p);
    } else {
        dh_order_release(sc.t, p);
        rc = DH_BLOCKING(REAL(pthread_barrier_wait)(p));
        dh_order_acquire(sc.t, p);
    }
    if (in)
        dh_scope_end(&sc);
    return rc;
}

DH_INTERCEPTOR(int, pthread_barrier_destroy, pthread_barrier_t *p)
{
    DH_RESOLVE(pthread_barrier_destroy);
    struct dh_scope sc;
    bool in = dh_scope_begin(&sc, __builtin_return_address(0));
    struct barrier *b = (struct barrier *)p;
    int rc = 0;
    if (b->magic == OURS) {
        /* As libc does: threads that are leaving still touch the object, and need its clocks. */
        u32 all = (u32)__atomic_load_n(&b->arrived, __ATOMIC_ACQUIRE);
        while (__atomic_load_n(&b->departed, __ATOMIC_ACQUIRE) != all)
            dh_sys_yield();
        b->magic = 0;
    } else {
        rc = REAL(pthread_barrier_destroy)(p);
    }
    if (in) {
        dh_object_destroy(sc.t, p, sizeof(*p));
        dh_scope_end(&sc);
    }
    return rc;
}
