/*
 * order.c - clocks through locks, semaphores and everything else that has an address (FastTrack figure 4).
 *
 * Three layers. The owner's clock acquires from publications and releases into them (dh_thread_acquire,
 * dh_thread_release). Edges on an address find the object (sync.c) and lock it (dh_order_take_in,
 * dh_order_give_out); both belong to the engine. The third layer handles the program's operations for any
 * sink (sink/sink.h): it tracks which locks a thread holds, and ignores unordered regions (lard.h), where
 * nothing is acquired or published.
 */
#include "runtime/engine/pending.h"
#include "runtime/init.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/held.h"
#include "runtime/threads/lately.h"
#include "runtime/threads/lockset.h"
#include "runtime/threads/period.h"
#include "runtime/threads/sync.h"

/* ---- The owner's clock ---- */

static bool reserve(struct dh_thread *t, u32 len)
{
    u32 *old, cap;
    if (len <= t->vc.cap)
        return true;
    if (!dh_vclock_reserve(&t->vc, len, &old, &cap)) {
        dh_runtime_degrade("no memory for vector clocks");
        return false;
    }
    /* The collector may be reading the old array: keep it until the thread is freed. Each is half as long as
     * the next, so together they cost less than the one in use. */
    if (old) {
        DH_ASSERT(t->old_clocks.n < DH_OLD_CLOCKS);
        t->old_clocks.c[t->old_clocks.n] = old;
        t->old_clocks.cap[t->old_clocks.n++] = cap;
    }
    return true;
}

/* Does s equal t's clock, except for t's own component? */
static bool is_copy(const struct dh_snap *s, const struct dh_thread *t)
{
    u32 differ = s->n != t->vc.n;
    for (u32 i = 0; i < t->vc.n && !differ; i++)
        differ = i != dh_slot_raw(t->slot) && s->c[i] != t->vc.c[i];
    return !differ;
}

void dh_thread_acquire(struct dh_thread *t, const struct dh_publish *p)
{
    /* FastTrack's shortcut: an epoch is only ever acquired together with the whole clock of that epoch. */
    DH_ASSERT(!dh_vclock_knows(&t->vc, p) || dh_vclock_covers(&t->vc, p));
    /* No other clock is ahead of this thread's own. */
    DH_ASSERT(!p->snap || !dh_slot_eq(p->slot, t->slot) || p->clock <= dh_thread_epoch(t));
    DH_ASSERT(!p->snap || dh_slot_raw(t->slot) >= p->snap->n ||
              *dh_snap_at(p->snap, t->slot) <= dh_thread_epoch(t));
    if (dh_vclock_knows(&t->vc, p) || !reserve(t, dh_publish_len(p)))
        return;
    /* Settle t's reads now, while it still has the clock that it had when it made them. */
    dh_pending_settle(t);
    if (dh_vclock_join(&t->vc, p)) {
        dh_snap_unref(t->snap);
        t->snap = NULL;
        t->changed = true;
        t->saying++;
    }
    DH_ASSERT(dh_vclock_covers(&t->vc, p));
    /* Threads with equal clocks come to share one copy, by which dh_thread_release sees that it has nothing
     * new to publish. */
    if (dh_slot_is_none(p->slot) && p->snap != t->snap && is_copy(p->snap, t)) {
        dh_snap_unref(t->snap);
        t->snap = dh_snap_ref(p->snap);
    }
}

/* FastTrack's inc_t. Ids of the ended epoch are no longer hit by the inlined check. That means all below
 * ids.plain.next; counting those taken would be wrong, since some may have been skipped (id_new). */
static void next_epoch(struct dh_thread *t)
{
    dh_pending_settle(t);
    struct dh_hot *hot = __dh_hot.self == t ? &__dh_hot : &t->saved;
    DH_ASSERT(!dh_id_less(t->ids.plain.end, t->ids.plain.next) &&
              !dh_id_less(t->ids.plain.next, t->ids.plain.first));
    if (dh_thread_records(t))
        dh_thread_set_hot(t, hot);
    t->ids.made = 0;
    t->ids.special_floor = t->ids.special.next;
    t->mixtures_before = t->mixtures;
    t->stamp++;
    t->saying++;
    t->changed = false;
    u32 *own = dh_vclock_at(&t->vc, t->slot);
    if (DH_UNLIKELY(*own == UINT32_MAX))
        dh_runtime_degrade("a thread's clock is used up");
    else
        ++*own;
}

void dh_thread_end_epoch(struct dh_thread *t)
{
    if (dh_thread_has_recorded(t) || dh_sink_wants_all()) /* then it is not counted what an epoch records */
        next_epoch(t);
}

/* Is p what t, which has recorded nothing since epoch `own`, would publish? Then t also knows all of p. */
static bool is_said(const struct dh_thread *t, const struct dh_publish *p, u32 own)
{
    if (dh_slot_eq(p->slot, t->slot))
        return p->snap && p->clock == own && !t->changed;
    return dh_slot_is_none(p->slot) && p->snap && p->snap == t->snap && *dh_snap_at(p->snap, t->slot) == own;
}

/* t->snap, with t's own component at `own`. NULL: no memory. */
static struct dh_snap *copy_at(struct dh_thread *t, u32 own)
{
    if (t->snap && *dh_snap_at(t->snap, t->slot) == own)
        return t->snap;
    dh_snap_unref(t->snap);
    t->snap = dh_snap_of(&t->vc);
    if (t->snap)
        *dh_snap_at(t->snap, t->slot) = own;
    return t->snap;
}

/*
 * An epoch that continues must not be published: what follows in it happens after this release. An epoch in
 * which nothing was recorded does continue, or threads that only pass a lock around would make each other's
 * clocks grow for nothing; so the previous epoch is published. If t has acquired something since, that epoch
 * no longer stands for all that t knows; then the publication has no owner (DH_SLOT_NONE), and an acquirer
 * has to look at all of it.
 */
void dh_thread_release(struct dh_thread *t, struct dh_publish *p, bool join)
{
    dh_pending_settle(t);
    bool ends = dh_thread_has_recorded(t);
    u32 own = dh_thread_epoch(t) - (ends ? 0 : 1);
    DH_ASSERT(dh_slot_raw(t->slot) < t->vc.n && dh_thread_epoch(t) > 0);
    if (!ends && is_said(t, p, own))
        return;
    if (join && !dh_vclock_knows(&t->vc, p) && !dh_vclock_covers(&t->vc, p)) {
        ends = true; /* the copy contains the current epoch */
        struct dh_snap *s = dh_publish_raise(p, &t->vc) ? p->snap : dh_snap_join(p, &t->vc);
        if (!s) {
            dh_runtime_degrade("no memory for vector clocks");
            return;
        }
        if (s != p->snap)
            dh_publish_clear(p);
        *p = (struct dh_publish){.snap = s, .slot = DH_SLOT_NONE};
    } else if (!ends && t->changed) {
        struct dh_snap *s = copy_at(t, own);
        if (!s) {
            dh_runtime_degrade("no memory for vector clocks");
            return;
        }
        dh_snap_ref(s);
        dh_snap_unref(p->snap);
        *p = (struct dh_publish){.snap = s, .slot = DH_SLOT_NONE};
    } else if (!dh_publish_rewrite(p, &t->vc, t->slot, own)) {
        if (!t->snap) {
            t->snap = dh_snap_of(&t->vc);
            if (!t->snap) {
                dh_runtime_degrade("no memory for vector clocks");
                return;
            }
            *dh_snap_at(t->snap, t->slot) = own;
        }
        dh_snap_ref(t->snap);
        dh_snap_unref(p->snap);
        *p = (struct dh_publish){.snap = t->snap, .slot = t->slot, .clock = own};
    }
    DH_ASSERT(dh_vclock_get(&t->vc, t->slot) >= own && p->snap && dh_publish_len(p) > dh_slot_raw(t->slot));
    if (ends)
        next_epoch(t);
}

u32 dh_thread_read_clock(const struct dh_thread *t, dh_slot_t slot)
{
    return dh_vclock_get(&t->vc, slot) - (dh_slot_eq(slot, t->slot) && !dh_thread_has_recorded(t) ? 1 : 0);
}

void dh_thread_write_clock(struct dh_thread *t, dh_slot_t slot, u64 time)
{
    u32 clock = time < UINT32_MAX ? (u32)time : UINT32_MAX, n = dh_slot_raw(slot);
    if (dh_slot_eq(slot, t->slot) || n >= DH_SLOTS_MAX || clock <= dh_vclock_get(&t->vc, slot) ||
        !reserve(t, n + 1))
        return;
    __atomic_store_n(&dh_vclock_patchy, true, __ATOMIC_SEQ_CST);
    *dh_vclock_at(&t->vc, slot) = clock;
    if (t->vc.n <= n)
        __atomic_store_n(&t->vc.n, n + 1, __ATOMIC_RELEASE);
    dh_snap_unref(t->snap);
    t->snap = NULL;
    t->changed = true;
    t->saying++;
}

void dh_thread_hand_over(struct dh_thread *from, struct dh_thread *to)
{
    struct dh_publish p = {0};
    dh_thread_release(from, &p, false);
    dh_thread_acquire(to, &p);
    dh_publish_clear(&p);
}

/* ---- Edges on an address: what the engine does about them ---- */

/* Without the lock: does t know all that o publishes? Publications of read locks are included on request. */
static bool has_nothing_new(const struct dh_thread *t, struct dh_sync *o, uptr addr, bool read,
                            struct dh_lately *e)
{
    u32 version = dh_sync_version(o);
    bool known = __atomic_load_n(&o->addr, __ATOMIC_RELAXED) == addr && dh_vclock_knows(&t->vc, &o->write);
    bool all = dh_vclock_knows(&t->vc, &o->read);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!known || (read && !all) || (version & 1) || dh_sync_version(o) != version)
        return false;
    *e = (struct dh_lately){addr, o, all ? version : DH_LATELY_NOT_ALL, 0};
    return true;
}

/* t is about to acquire what is published at addr. If several threads published it, none is named. */
static void note_teacher(struct dh_thread *t, uptr addr, const struct dh_publish *p)
{
    u32 before = p->snap && !dh_slot_is_none(p->slot) ? dh_vclock_get(&t->vc, p->slot) : UINT32_MAX;
    if (p->clock > before)
        t->taught[t->n_taught++ % DH_TAUGHT] =
            (struct dh_taught){addr, dh_thread_epoch(t), p->slot, before, p->clock};
}

void dh_order_take_in(struct dh_thread *t, uptr addr, bool read)
{
    struct dh_lately *e = dh_lately(t, addr);
    if (dh_period_settled(t) || DH_LIKELY(dh_lately_known(e, addr)))
        return;
    bool sure = true;
    struct dh_sync *o = e->addr == addr ? e->object : dh_sync_find(addr, &sure);
    if ((!o && sure) || (o && has_nothing_new(t, o, addr, read, e)))
        return;
    o = dh_sync_take(o, addr, false);
    if (!o)
        return;
    note_teacher(t, addr, &o->write);
    dh_thread_acquire(t, &o->write);
    if (read)
        dh_thread_acquire(t, &o->read);
    *e = (struct dh_lately){addr, o, read || !o->read.snap ? o->version : DH_LATELY_NOT_ALL, 0};
    dh_sync_drop(o);
}

/* Without the lock: would t publish at addr what was last published there, by itself? */
static bool published(const struct dh_thread *t, struct dh_lately *e, uptr addr)
{
    if (dh_lately_said(t, e, addr))
        return true;
    if (dh_thread_has_recorded(t) || !dh_lately_known(e, addr))
        return false;
    const struct dh_sync *o = e->object;
    const struct dh_publish p = o->write;
    bool same = is_said(t, &p, dh_thread_epoch(t) - 1) && !o->read.snap;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!same || dh_sync_version(o) != e->version)
        return false;
    e->said = t->saying;
    return true;
}

/* The object at addr, to be changed. NULL: no memory. */
static struct dh_sync *take_to_change(struct dh_thread *t, uptr addr)
{
    const struct dh_lately *e = dh_lately(t, addr);
    struct dh_sync *o = dh_sync_take(e->addr == addr ? e->object : NULL, addr, true);
    if (o)
        dh_sync_change(o);
    return o;
}

/* t is done changing o, which it took. */
static void drop_changed(struct dh_thread *t, struct dh_sync *o)
{
    DH_ASSERT(t->in_rt);
    dh_sync_changed(o);
    bool all = !o->read.snap && (dh_slot_eq(o->write.slot, t->slot) ||
                                 (dh_slot_is_none(o->write.slot) && o->write.snap == t->snap));
    *dh_lately(t, o->addr) =
        (struct dh_lately){o->addr, o, all ? o->version : DH_LATELY_NOT_ALL, all ? t->saying : 0};
    dh_sync_drop(o);
}

void dh_order_give_out(struct dh_thread *t, uptr addr, bool join)
{
    struct dh_lately *e = dh_lately(t, addr);
    if (dh_period_all_settled ||
        (published(t, e, addr) && __atomic_load_n(&e->object->kept, __ATOMIC_RELAXED)))
        return;
    struct dh_sync *o = take_to_change(t, addr);
    if (!o)
        return;
    __atomic_store_n(&o->kept, 1, __ATOMIC_RELAXED);
    dh_thread_release(t, &o->write, join);
    drop_changed(t, o);
}

void dh_order_give_out_lock(struct dh_thread *t, uptr lock, bool read)
{
    if (dh_period_all_settled || published(t, dh_lately(t, lock), lock))
        return;
    struct dh_sync *o = take_to_change(t, lock);
    if (!o)
        return;
    if (read) {
        dh_thread_release(t, &o->read, true);
    } else {
        /* An exclusive holder has acquired all earlier releases, so this one replaces them, except what was
         * published by other means meanwhile. */
        if (o->read.snap)
            dh_publish_clear(&o->read);
        dh_thread_release(t, &o->write, o->kept);
    }
    drop_changed(t, o);
}

/* ---- Edges on an address, as the program makes them ---- */

void dh_order_acquire(struct dh_thread *t, const volatile void *addr)
{
    if (DH_LIKELY(!t->unordered && !t->alone))
        dh_sink_take_in(t, (uptr)addr);
}

void dh_order_release(struct dh_thread *t, const volatile void *addr)
{
    if (DH_LIKELY(!t->unordered && !t->alone))
        dh_sink_give_out(t, (uptr)addr, true);
}

void dh_order_release_store(struct dh_thread *t, const volatile void *addr)
{
    if (DH_LIKELY(!t->unordered && !t->alone))
        dh_sink_give_out(t, (uptr)addr, false);
}

/* ---- Locks ---- */

static struct dh_held *held_find(struct dh_thread *t, uptr lock)
{
    for (u32 i = t->locks.n; i-- > 0;)
        if (t->held[i].lock == lock)
            return &t->held[i];
    return NULL;
}

/* The place is the call on top of the shadow stack. Its context is interned only when the lockset is needed:
 * under most locks nothing new is recorded. */
static void hold(struct dh_thread *t, uptr lock, u32 flags)
{
    DH_ASSERT(t->in_rt && t->locks.n < DH_HELD_MAX);
    struct dh_frame *top = __dh_hot.sp - 1;
    bool open = top >= t->frames && dh_ctx_is_none(dh_ctx_of_frame(top));
    struct dh_held *h = &t->held[t->locks.n++];
    *h = (struct dh_held){.lock = lock,
                          .pc = open ? top->pc : NULL,
                          .ctx = dh_thread_frame_ctx(t, open ? top - 1 : top),
                          .levels = 1,
                          .flags = flags | (t->unordered || t->system_order ? DH_LOCK_UNORDERED : 0)};
    t->locks.gen++;
    t->stamp++;
    if (flags & DH_LOCK_LANGUAGE)
        dh_held_note(t, h);
}

void dh_order_lock(struct dh_thread *t, const volatile void *m, u32 flags)
{
    struct dh_held *h = held_find(t, (uptr)m);
    if (h) { /* recursion, or a second read lock */
        h->levels++;
        return;
    }
    if (t->locks.n < DH_HELD_MAX)
        hold(t, (uptr)m, flags);
    if (DH_LIKELY(!t->unordered && !t->alone))
        dh_sink_acquire(t, (uptr)m, flags & DH_LOCK_READ);
}

u32 dh_order_unlock(struct dh_thread *t, const volatile void *m, bool all_levels)
{
    struct dh_held *h = held_find(t, (uptr)m);
    u32 levels = h ? h->levels : 1;
    enum dh_sink_hold hold = !h                        ? DH_HELD_UNKNOWN
                             : h->flags & DH_LOCK_READ ? DH_HELD_SHARED
                                                       : DH_HELD_EXCLUSIVE;
    bool unordered = t->unordered || t->system_order || (h && (h->flags & DH_LOCK_UNORDERED));
    /* A sink that saw the lock taken must see it released, even though it creates no ordering. */
    bool told = dh_system_kept || (dh_sink_wants_all() && h && !(h->flags & DH_LOCK_UNORDERED));
    if (h && !all_levels && levels > 1) {
        h->levels--;
        return 1;
    }
    if (h) {
        dh_held_drop(h->lock, h->flags);
        for (struct dh_held *end = &t->held[--t->locks.n]; h < end; h++)
            h[0] = h[1];
        t->locks.gen++;
        t->stamp++;
    }
    if (DH_LIKELY(!unordered && !t->alone) || told)
        dh_sink_release(t, (uptr)m, hold, unordered);
    return all_levels ? levels : 1;
}

u32 dh_order_lock_kind(struct dh_thread *t, const volatile void *m)
{
    struct dh_held *h = held_find(t, (uptr)m);
    return h ? h->flags & (DH_LOCK_RECURSIVE | DH_LOCK_ROBUST) : 0;
}

void dh_order_relock(struct dh_thread *t, const volatile void *m, u32 kind, u32 levels)
{
    dh_order_lock(t, m, kind);
    struct dh_held *h = held_find(t, (uptr)m);
    if (h)
        h->levels = levels;
}

dh_lockset_t dh_thread_lockset(struct dh_thread *t)
{
    if (t->locks.set_gen == t->locks.gen)
        return t->locks.set;
    dh_lockset_t set = DH_LOCKSET_EMPTY;
    for (u32 i = 0; i < t->locks.n; i++) {
        struct dh_held *h = &t->held[i];
        if (h->flags & DH_LOCK_UNORDERED)
            continue; /* it protects no program data */
        if (h->pc) {
            h->ctx = dh_thread_leaf(t, h->ctx, h->pc);
            h->pc = NULL;
        }
        u32 read = (h->flags & DH_LOCK_READ) != 0;
        u32 k =
            (u32)(dh_hash64(h->lock ^ (u64)dh_lockset_raw(set) << 44 ^ dh_ctx_raw(h->ctx)) >> 40) % DH_LSC;
        struct dh_lsc *c = &t->lsc[k];
        if (c->lock != h->lock || !dh_lockset_eq(c->set, set) || !dh_ctx_eq(c->ctx, h->ctx) ||
            c->read != read || dh_lockset_is_empty(c->result)) {
            c->result = dh_lockset_with(set, h->lock, read, h->ctx);
            c->lock = h->lock;
            c->set = set;
            c->ctx = h->ctx;
            c->read = read;
        }
        set = c->result;
    }
    DH_ASSERT(dh_lockset_is_unknown(set) || dh_lockset_raw(set) <= DH_LOCKSET_MAX);
    t->locks.set = set;
    t->locks.set_gen = t->locks.gen;
    return set;
}
