/*
 * atomic.c - C11 atomics with their real orders (C11 5.1.2.4, 7.17.3).
 *
 * An atomic object's synchronisation object holds what the release sequence that ends in its present value
 * publishes. Its shard's lock is held from pre to post, so value and publication change together.
 *
 *   store          release: publication := my clock; relaxed after a release fence: := the fence's clock;
 *                  relaxed otherwise: := nothing, the store heads no release sequence and ends the old one
 *   RMW            as a store, but joined with what is there: it continues the release sequence
 *   load, RMW      acquire: take the publication in; relaxed: keep it for a later acquire fence
 *   fences         release: remember my clock for later relaxed stores; acquire: take in what relaxed loads
 * kept
 *
 * C11 also lets a relaxed store by the releasing thread itself continue the sequence; C++20 took that back,
 * and compilers do not rely on it, so any relaxed store ends it here.
 */
#include "runtime/engine.h"
#include "runtime/init.h"
#include "runtime/region.h"
#include "runtime/sync.h"

/* Between pre and post. Owner only; operations do not nest. */
static _Thread_local struct dh_atomic_now now __attribute__((tls_model("initial-exec")));

static bool acquires(u32 order)
{
    return order == DH_ACQUIRE || order == DH_CONSUME || order == DH_ACQ_REL || order == DH_SEQ_CST;
}

static bool releases(u32 order)
{
    return order == DH_RELEASE || order == DH_ACQ_REL || order == DH_SEQ_CST;
}

static __typeof__(((struct dh_thread *)0)->seen[0]) *seen_entry(struct dh_thread *t)
{
    return &t->seen[(now.addr >> 2 ^ now.addr >> 8) % DH_SEEN];
}

/* Was everything the object publishes taken in when its shard had the present version? */
static bool has_seen(struct dh_thread *t, u32 order)
{
    const __typeof__(t->seen[0]) *e = seen_entry(t);
    return e->addr == now.addr && e->version == now.version && !(now.version & 1) &&
           (e->acquired || !acquires(order));
}

static void record(struct dh_thread *t, u32 kind)
{
    struct dh_access_now a = {.t = t, .addr = now.addr, .size = now.size, .kind = DH_ATOMIC | kind};
    if (dh_region_ready(a.addr, a.size) && dh_step_identify(&a, now.pc))
        dh_engine_words(&a);
}

void *__dh_atomic_pre(const volatile void *p, u32 size, u32 order, u32 kind)
{
    struct dh_thread *t = __dh_hot.self;
    if (!t || dh_runtime_off || !dh_thread_enter(t))
        return NULL;
    now.addr = (uptr)p;
    now.size = size;
    now.pc = __builtin_return_address(0);
    now.shard = NULL;
    now.reading = kind == DH_ATOMIC_LOAD;
    now.trusting = false;
    if (now.reading) {
        /* A load of an object nobody ever released to needs no lock: if one appears meanwhile, post sees it.
         * Nor does one of an object from which all was taken in, as long as its shard keeps its version until
         * post. */
        now.version = dh_sync_version(now.addr);
        now.trusting = has_seen(t, order);
        if (!now.trusting && dh_sync_maybe(now.addr))
            now.shard = dh_sync_lock_read(now.addr);
        return t;
    }
    /* A store takes nothing in, so it can be recorded before the lock is taken; the lock is short then. */
    if (kind == DH_ATOMIC_STORE)
        record(t, DH_WRITE);
    now.shard = dh_sync_lock(now.addr);
    /* The object must be there before the value is, or such a load could see it and acquire nothing. */
    if (releases(order) || t->fence_release.snap)
        dh_sync_find(now.shard, now.addr, true);
    return t;
}

/* p := p joined with q. */
static void join_publish(struct dh_publish *p, const struct dh_publish *q)
{
    if (!p->snap) {
        dh_publish_copy(p, q);
        return;
    }
    struct dh_vclock none = {0};
    struct dh_snap *a = dh_snap_join(q, &none);
    struct dh_vclock view = {.c = a ? a->c : NULL, .n = a ? a->n : 0};
    struct dh_snap *both = a ? dh_snap_join(p, &view) : NULL;
    dh_snap_unref(a);
    if (!both) {
        dh_runtime_degrade("no memory for vector clocks");
        return;
    }
    dh_publish_clear(p);
    *p = (struct dh_publish){.snap = both, .slot = DH_NO_SLOT};
}

static void take_in(struct dh_thread *t, struct dh_sync *o, u32 order)
{
    if (acquires(order))
        dh_thread_acquire(t, &o->write);
    else if (!dh_vclock_knows(&t->vc, &o->write))
        join_publish(&t->fence_acquire, &o->write);
}

static void give_out(struct dh_thread *t, u32 order, bool rmw)
{
    bool fenced = t->fence_release.snap != NULL;
    struct dh_sync *o = dh_sync_find(now.shard, now.addr, releases(order) || fenced);
    if (!o)
        return;
    if (releases(order))
        dh_thread_release(t, &o->write, rmw);
    else if (fenced && rmw)
        join_publish(&o->write, &t->fence_release);
    else if (fenced)
        dh_publish_copy(&o->write, &t->fence_release);
    else if (!rmw)
        dh_publish_clear(&o->write);
}

/* A load, with its value read: take in what belongs to it. */
static void finish_load(struct dh_thread *t, u32 order)
{
    if (now.trusting && dh_sync_version(now.addr) == now.version)
        return;
    if (!now.shard && dh_sync_maybe(now.addr))
        now.shard = dh_sync_lock_read(now.addr);
    if (!now.shard)
        return;
    struct dh_sync *o = dh_sync_find(now.shard, now.addr, false);
    if (o)
        take_in(t, o, order);
    __typeof__(t->seen[0]) *e = seen_entry(t);
    e->addr = now.addr;
    e->version = dh_sync_version(now.addr);
    e->acquired = acquires(order);
    dh_sync_unlock_read(now.shard);
}

static void finish_change(struct dh_thread *t, u32 order, u32 kind)
{
    struct dh_sync *o = dh_sync_find(now.shard, now.addr, false);
    if (o && kind != DH_ATOMIC_STORE)
        take_in(t, o, order);
    if (kind != DH_ATOMIC_STORE)
        record(t, kind == DH_ATOMIC_RMW ? DH_WRITE : DH_READ);
    if (kind != DH_ATOMIC_CAS_FAILED)
        give_out(t, order, kind == DH_ATOMIC_RMW);
    dh_sync_unlock(now.shard);
}

void __dh_atomic_post(void *h, u32 order, u32 kind)
{
    struct dh_thread *t = h;
    if (!t)
        return;
    if (now.reading) {
        finish_load(t, order);
        record(t, DH_READ);
    } else {
        finish_change(t, order, kind);
    }
    now.size = 0;
    dh_thread_leave(t);
}

void __dh_fence(u32 order)
{
    struct dh_thread *t = __dh_hot.self;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!t || dh_runtime_off || !dh_thread_enter(t))
        return;
    if (acquires(order) && t->fence_acquire.snap) {
        dh_thread_acquire(t, &t->fence_acquire);
        dh_publish_clear(&t->fence_acquire);
    }
    if (releases(order))
        dh_thread_release(t, &t->fence_release, false);
    dh_thread_leave(t);
}

struct dh_atomic_now dh_atomic_suspend(void)
{
    struct dh_atomic_now was = now;
    now = (struct dh_atomic_now){0};
    if (was.size && was.shard && was.reading)
        dh_sync_unlock_read(was.shard);
    else if (was.size && was.shard)
        dh_sync_unlock(was.shard);
    return was;
}

void dh_atomic_resume(const struct dh_atomic_now *was)
{
    if (!was->size)
        return;
    now = *was;
    if (was->shard && was->reading)
        dh_sync_lock_read(was->addr);
    else if (was->shard)
        dh_sync_lock(was->addr);
}
