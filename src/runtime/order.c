/*
 * order.c - clocks through locks, semaphores and everything else that has an address (FastTrack figure 4).
 *
 * Two layers: the owner's clock, which learns from publications and makes them (dh_thread_acquire,
 * dh_thread_release); and edges on an address, which find the object (sync.c) and lock it. Unordered regions
 * (lard.h) are cut off here: what a thread holds is still known, and nothing is learned or published.
 */
#include "runtime/init.h"
#include "runtime/lockset.h"
#include "runtime/sync.h"
#include "runtime/tap.h"

/* ---- The owner's clock ---- */

static bool reserve(struct dh_thread *t, u32 len)
{
    u32 *old, cap;
    if (len == 0 || len <= t->vc.cap)
        return true;
    if (!dh_vclock_reserve(&t->vc, len - 1, &old, &cap)) {
        dh_runtime_degrade("no memory for vector clocks");
        return false;
    }
    /* The collector may be reading the old array: keep it until the thread is gone. Each is half as
     * long as the next, so together they cost less than the one in use. */
    if (old) {
        t->old_clocks[t->old_n] = old;
        t->old_caps[t->old_n++] = cap;
    }
    return true;
}

void dh_thread_acquire(struct dh_thread *t, const struct dh_publish *p)
{
    if (dh_vclock_knows(&t->vc, p) || !reserve(t, dh_publish_len(p)))
        return;
    if (dh_vclock_join(&t->vc, p)) {
        if (t->snap)
            dh_snap_unref(t->snap);
        t->snap = NULL;
        t->changed = true;
    }
}

/* Nothing was recorded or learned in this epoch. */
static bool idle(const struct dh_thread *t)
{
    return __dh_hot.self == t && t->id_made == 0 && t->special_next == t->special_floor && !t->changed;
}

/* FastTrack's inc_t. Ids of the ended epoch are no longer hit by the inlined check. */
void dh_thread_end_epoch(struct dh_thread *t)
{
    if (__dh_hot.self == t) {
        if (idle(t))
            return;
        __dh_hot.base += t->id_made;
        __dh_hot.span -= t->id_made;
        t->id_made = 0;
    }
    t->special_floor = t->special_next;
    t->stamp++;
    t->changed = false;
    u32 *own = &t->vc.c[t->slot];
    if (DH_UNLIKELY(*own == UINT32_MAX))
        dh_runtime_degrade("a thread's clock is used up");
    else
        ++*own;
}

void dh_thread_release(struct dh_thread *t, struct dh_publish *p, bool join)
{
    /* An epoch that goes on must not be published: what follows in it happens after this release. An idle one
     * has nothing that the one before it had not. */
    u32 own = t->vc.c[t->slot] - (idle(t) ? 1 : 0);
    if (p->snap && p->slot == t->slot && p->clock == own)
        return; /* an idle one has published the same here before */
    if (join && !dh_vclock_knows(&t->vc, p)) {
        t->changed = true; /* the copy names the present epoch: end it */
        struct dh_snap *s = dh_publish_raise(p, &t->vc) ? p->snap : dh_snap_join(p, &t->vc);
        if (!s) {
            dh_runtime_degrade("no memory for vector clocks");
            return;
        }
        if (s != p->snap)
            dh_publish_clear(p);
        *p = (struct dh_publish){.snap = s, .slot = DH_NO_SLOT};
    } else if (!dh_publish_rewrite(p, &t->vc, t->slot, own)) {
        if (!t->snap) {
            t->snap = dh_snap_of(&t->vc);
            if (!t->snap) {
                dh_runtime_degrade("no memory for vector clocks");
                return;
            }
            t->snap->c[t->slot] = own;
        }
        dh_snap_ref(t->snap);
        dh_snap_unref(p->snap);
        *p = (struct dh_publish){.snap = t->snap, .slot = t->slot, .clock = own};
    }
    dh_thread_end_epoch(t);
}

u32 dh_thread_read_clock(const struct dh_thread *t, u32 slot)
{
    return dh_vclock_get(&t->vc, slot) - (slot == t->slot && idle(t) ? 1 : 0);
}

void dh_thread_write_clock(struct dh_thread *t, u32 slot, u64 time)
{
    u32 clock = time < UINT32_MAX ? (u32)time : UINT32_MAX;
    if (slot == t->slot || slot >= DH_SLOTS_MAX || clock <= dh_vclock_get(&t->vc, slot) ||
        !reserve(t, slot + 1))
        return;
    __atomic_store_n(&dh_vclock_patchy, true, __ATOMIC_SEQ_CST);
    t->vc.c[slot] = clock;
    if (t->vc.n <= slot)
        __atomic_store_n(&t->vc.n, slot + 1, __ATOMIC_RELEASE);
    dh_snap_unref(t->snap);
    t->snap = NULL;
    t->changed = true;
}

/* ---- Plain edges ---- */

/* Without the lock: is all that o publishes known to t? Of the publications of read locks only if asked. */
static bool has_nothing_new(const struct dh_thread *t, const struct dh_sync *o, bool read)
{
    u32 version = dh_sync_version(o);
    bool known = dh_vclock_knows(&t->vc, &o->write) && (!read || dh_vclock_knows(&t->vc, &o->read));
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return known && !(version & 1) && dh_sync_version(o) == version;
}

/* read: also what only write locks see. */
static void acquire(struct dh_thread *t, uptr addr, bool read)
{
    bool sure;
    struct dh_sync *o = dh_sync_find(addr, &sure);
    if ((!o && sure) || (o && has_nothing_new(t, o, read)))
        return;
    o = dh_sync_take(o, addr, false);
    if (!o)
        return;
    dh_thread_acquire(t, &o->write);
    if (read)
        dh_thread_acquire(t, &o->read);
    dh_sync_drop(o);
}

void dh_sync_acquire(struct dh_thread *t, const volatile void *addr)
{
    if (DH_UNLIKELY(t->unordered))
        return;
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_tap->sync(t, DH_OP_VOLATILE, DH_READ, (uptr)addr);
    else
        acquire(t, (uptr)addr, false);
}

static void release(struct dh_thread *t, const volatile void *addr, bool join)
{
    if (DH_UNLIKELY(t->unordered))
        return;
    if (DH_UNLIKELY(dh_tap != NULL)) {
        if (join)
            dh_tap->sync(t, DH_OP_VOLATILE, DH_WRITE, (uptr)addr);
        else
            dh_tap->atomic(t, DH_OP_ATOMIC_STORE, DH_RELEASE, &(struct dh_tap_access){.addr = (uptr)addr});
        return;
    }
    struct dh_sync *o = dh_sync_take(NULL, (uptr)addr, true);
    if (!o)
        return;
    dh_sync_change(o);
    dh_thread_release(t, &o->write, join);
    dh_sync_changed(o);
    dh_sync_drop(o);
}

void dh_sync_release(struct dh_thread *t, const volatile void *addr)
{
    release(t, addr, true);
}

void dh_sync_release_store(struct dh_thread *t, const volatile void *addr)
{
    release(t, addr, false);
}

/* ---- Locks ---- */

static struct dh_held *held_find(struct dh_thread *t, uptr lock)
{
    for (u32 i = t->held_n; i-- > 0;)
        if (t->held[i].lock == lock)
            return &t->held[i];
    return NULL;
}

void dh_mutex_lock(struct dh_thread *t, const volatile void *m, u32 flags)
{
    struct dh_held *h = held_find(t, (uptr)m);
    if (h) { /* recursion, or a second read lock */
        h->levels++;
        return;
    }
    if (t->held_n < DH_HELD_MAX) {
        flags |= t->unordered || t->system_order ? DH_LOCK_UNORDERED : 0;
        t->held[t->held_n++] = (struct dh_held){(uptr)m, 1, dh_ctx_current(t), flags};
        t->held_gen++;
        t->stamp++;
    }
    if (DH_UNLIKELY(t->unordered))
        return;
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_tap->sync(t, DH_OP_ACQUIRE, flags & DH_LOCK_READ ? DH_SHARED : DH_EXCLUSIVE, (uptr)m);
    else
        acquire(t, (uptr)m, !(flags & DH_LOCK_READ));
}

u32 dh_mutex_unlock(struct dh_thread *t, const volatile void *m, bool all_levels)
{
    struct dh_held *h = held_find(t, (uptr)m);
    u32 levels = h ? h->levels : 1;
    bool read = h && (h->flags & DH_LOCK_READ);
    bool unordered = t->unordered || t->system_order || (h && (h->flags & DH_LOCK_UNORDERED));
    /* Whoever was told that it was taken must be told that it is free, though it orders nothing. */
    bool told = dh_system_kept || (dh_tap && h && !(h->flags & DH_LOCK_UNORDERED));
    if (h && !all_levels && levels > 1) {
        h->levels--;
        return 1;
    }
    if (h) {
        for (struct dh_held *end = &t->held[--t->held_n]; h < end; h++)
            h[0] = h[1];
        t->held_gen++;
        t->stamp++;
    }
    if (DH_UNLIKELY(unordered) && !told)
        return all_levels ? levels : 1;
    if (DH_UNLIKELY(dh_tap != NULL)) {
        t->system_order += unordered; /* also of a lock that was taken inside and is released outside */
        if (h)
            dh_tap->sync(t, DH_OP_RELEASE, read ? DH_SHARED : DH_EXCLUSIVE, (uptr)m);
        else
            dh_tap->release_foreign(t, (uptr)m);
        t->system_order -= unordered;
        return all_levels ? levels : 1;
    }
    struct dh_sync *o = dh_sync_take(NULL, (uptr)m, true);
    if (!o)
        return all_levels ? levels : 1;
    dh_sync_change(o);
    if (read) {
        dh_thread_release(t, &o->read, true);
    } else if (!h) {
        /* Too many to remember (DH_HELD_MAX), or another thread's: in which mode it was held is not known.
         * Joined to what everyone sees, it orders at least what it must. */
        dh_thread_release(t, &o->write, true);
    } else {
        /* Whoever holds it exclusively has taken in all earlier releases, so this one replaces them. */
        if (o->read.snap)
            dh_publish_clear(&o->read);
        dh_thread_release(t, &o->write, false);
    }
    dh_sync_changed(o);
    dh_sync_drop(o);
    return all_levels ? levels : 1;
}

void dh_mutex_relock(struct dh_thread *t, const volatile void *m, u32 levels)
{
    dh_mutex_lock(t, m, 0);
    struct dh_held *h = held_find(t, (uptr)m);
    if (h)
        h->levels = levels;
}

u32 dh_thread_lockset(struct dh_thread *t)
{
    if (t->lockset_gen == t->held_gen)
        return t->lockset;
    u32 set = 0;
    for (u32 i = 0; i < t->held_n; i++) {
        const struct dh_held *h = &t->held[i];
        if (h->flags & DH_LOCK_UNORDERED)
            continue; /* it protects nothing of the program's */
        u32 read = (h->flags & DH_LOCK_READ) != 0;
        u32 k = (u32)(dh_hash64(h->lock ^ (u64)set << 44 ^ h->ctx) >> 40) % DH_LSC;
        __typeof__(t->lsc[0]) *c = &t->lsc[k];
        if (c->lock != h->lock || c->set != set || c->ctx != h->ctx || c->read != read || !c->result) {
            c->result = dh_lockset_with(set, h->lock, read, h->ctx);
            c->lock = h->lock;
            c->set = set;
            c->ctx = h->ctx;
            c->read = read;
        }
        set = c->result;
    }
    t->lockset = set;
    t->lockset_gen = t->held_gen;
    return set;
}
