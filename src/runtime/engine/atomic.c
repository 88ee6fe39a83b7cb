/*
 * atomic.c - C11 atomics with their real orders (C11 5.1.2.4, 7.17.3).
 *
 * An atomic object's synchronisation object holds what is published by the release sequence that ends in its
 * current value. If an operation may change that, its lock is held from pre to post, so that value and
 * publication change together; likewise if it may acquire it, so that it acquires what belongs to the value
 * it reads. Most operations need no lock: no thread ever released to the object, or this thread has acquired
 * everything it publishes and the object's version is still the same.
 *
 *   store          release: publication := my clock; relaxed after a release fence: := the fence's clock;
 *                  relaxed otherwise: := nothing, the store heads no release sequence and ends the old one
 *   RMW            as a store, but joined with what is there: it continues the release sequence
 *   load, RMW      acquire: acquire the publication; relaxed: keep it for a later acquire fence
 *   fences         release: remember my clock for later relaxed stores; acquire: acquire what relaxed
 *                  loads kept
 *
 * C11 also lets a relaxed store by the releasing thread itself continue the sequence; C++20 took that back,
 * and compilers do not rely on it, so any relaxed store ends it here. No store ends what was published by
 * means other than atomic operations (dh_sync.kept): an annotation is about the address, not its value.
 */
#include <string.h>

#include "runtime/engine/engine.h"
#include "runtime/engine/recheck.h"
#include "runtime/engine/rules.h"
#include "runtime/engine/unsampled.h"
#include "runtime/init.h"
#include "runtime/shadow/region.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/sync.h"

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

static u32 seen_slot(uptr addr)
{
    return (u32)(addr >> 3 ^ addr >> 9) % DH_SEEN;
}

/* What this thread remembers about the current operation's address. */
static struct dh_seen *seen_entry(struct dh_thread *t)
{
    struct dh_seen *e = &t->atomics.seen[seen_slot(now.addr)];
    if (DH_UNLIKELY(e->addr != now.addr)) {
        t->atomics.any = true;
        *e = (struct dh_seen){.addr = now.addr, .chains = dh_sync_chains(now.addr), .absent = 1};
    }
    return e;
}

/* The object at the current operation's address, without locking. */
static struct dh_sync *find(struct dh_thread *t, bool *ret_sure)
{
    struct dh_seen *e = seen_entry(t);
    struct dh_sync *o = e->object;
    *ret_sure = true;
    if (o && __atomic_load_n(&o->addr, __ATOMIC_ACQUIRE) == now.addr)
        return o;
    u32 chains = __atomic_load_n(e->chains, __ATOMIC_ACQUIRE);
    if (!o && e->absent == chains && !(chains & 1))
        return NULL;
    o = e->object = dh_sync_find(now.addr, ret_sure);
    e->absent = !o && *ret_sure ? chains : 1;
    e->version = 1; /* an object not being changed never has an odd one */
    return o;
}

/* Everything was acquired from the locked object; note the version that it will have once unlocked. */
static void remember(struct dh_thread *t, struct dh_sync *o, bool acquired)
{
    struct dh_seen *e = seen_entry(t);
    DH_ASSERT(dh_lock_is_mine(&o->lock) && o->addr == now.addr && !(o->version & 1));
    e->object = o;
    e->version = o->version;
    e->acquired = acquired;
}

/* ---- Recording ---- */

/* The cells of the current operation, if they are at most two, aligned. */
static bool cells_now(enum dh_plane plane, dh_pair_t *ret)
{
    const dh_cell_t *p = dh_shadow(now.addr, plane);
    if (now.size == 8 && !(now.addr & 7))
        *ret = dh_pair_load(p);
    else if ((now.addr & 3) + now.size <= 4)
        *ret = dh_pair_load_unit(p, false);
    else
        return false;
    return true;
}

/* Does the cell hold all of access `me` (id and bytes), and will it as long as it is the same cell? */
static bool holds(const struct dh_thread *t, dh_cell_t cell, dh_cell_t me)
{
    if (dh_cell_is_simple(cell))
        return dh_id_eq(dh_cell_id(cell), dh_cell_id(me)) &&
               dh_mask_covers(dh_cell_mask(cell), dh_cell_mask(me));
    if (dh_cell_is_split(cell))
        return false;
    const struct dh_history *h = dh_history_get(cell);
    if (h->by_slot) {
        const dh_cell_t *entry = dh_history_entry(h, t->slot);
        return entry && dh_cell_eq(dh_cell_load(entry), me);
    }
    for (u32 i = 0; i < h->n; i++)
        if (dh_cell_eq(h->cells[i], me))
            return true;
    return false;
}

/* Is it certain that no atomic access of t races with what the cell holds, now or later, as long as it is the
 * same cell? False may also mean that it takes longer to tell. */
static bool harmless(const struct dh_thread *t, dh_cell_t cell)
{
    if (dh_cell_is_split(cell))
        return false;
    const struct dh_history *h = dh_cell_is_history(cell) ? dh_history_get(cell) : NULL;
    if (h && (h->by_slot == DH_BY_SLOT_ATOMIC || h->by_slot == DH_BY_SLOT_PLAIN))
        return h->by_slot == DH_BY_SLOT_ATOMIC;
    for (u32 i = h ? h->first : 0, n = h ? h->n : !dh_cell_is_none(cell), step = h ? h->step : 1; i < n;
         i += step) {
        dh_cell_t e = h ? dh_cell_load(&h->cells[i]) : cell;
        dh_id_t id = dh_cell_id(e);
        if (!dh_cell_is_none(e) && !(dh_id_kind(id) & DH_ATOMIC) && !dh_step_before(t, id))
            return false;
    }
    return true;
}

/* Put access a into the histories of two words; false: not possible. A full fence. */
static bool put_in_place(const struct dh_access_now *a, dh_cell_t lo, dh_cell_t hi)
{
    const struct dh_history *h = dh_history_get(lo), *k = dh_history_get(hi);
    if (h->by_slot != DH_BY_SLOT_ATOMIC || k->by_slot != DH_BY_SLOT_ATOMIC)
        return dh_step_in_place(a, lo, DH_MASK_FULL) && dh_step_in_place(a, hi, DH_MASK_FULL);
    dh_cell_t *first = dh_history_entry(h, a->t->slot), *second = dh_history_entry(k, a->t->slot);
    if (!first || !second)
        return false;
    dh_cell_t me = dh_cell_make(a->id, DH_MASK_FULL);
    dh_cell_store(first, me);
    dh_cell_exchange(second, me); /* the fence of both */
    return !__atomic_load_n(&h->closed, __ATOMIC_SEQ_CST) && !__atomic_load_n(&k->closed, __ATOMIC_SEQ_CST);
}

/* Is it certain that this access races with nothing that these planes (as bits) hold for the words? */
static bool all_harmless(const struct dh_access_now *a, struct dh_done *d, u32 planes, bool two)
{
    const struct dh_thread *t = a->t;
    if (d->harmless_gen != t->gen)
        memset(d->harmless, 0, sizeof(d->harmless));
    d->harmless_gen = t->gen;
    for (u32 rest = planes; rest; rest &= rest - 1) {
        u32 n = (u32)__builtin_ctz(rest);
        dh_pair_t other = dh_pair_load_unit(dh_shadow_nth(a->addr, n), two);
        if (dh_pair_is_none(other) || dh_pair_eq(d->harmless[n], other))
            continue;
        if (!harmless(t, dh_pair_lo(other)) || !harmless(t, dh_pair_hi(other)))
            return false;
        d->harmless[n] = other;
    }
    return true;
}

/* One or two words whose only earlier access was atomic too and happened before, or whose histories take this
 * one in place; and the other plane holds nothing it could race with. In the order of work that engine.c
 * describes. False: not done, or possibly not complete. */
static bool record_unit(const struct dh_access_now *a, struct dh_done *d, enum dh_plane plane,
                        dh_pair_t *ret_cells)
{
    struct dh_thread *t = a->t;
    const bool two = a->size == 8, read = plane == DH_PLANE_READ;
    dh_cell_t *p = dh_shadow(a->addr, plane);
    dh_pair_t old = dh_pair_load_unit(p, two);
    dh_cell_t lo = dh_pair_lo(old), hi = two ? dh_pair_hi(old) : lo;
    DH_ASSERT(t->in_rt && dh_valid_cell(lo, plane) && dh_valid_cell(hi, plane));
    if (dh_cell_eq(lo, hi) && dh_cell_is_simple(lo)) {
        dh_cell_t me = dh_cell_make(a->id, DH_MASK_FULL);
        if (!dh_cell_is_none(lo) && (!(dh_id_kind(dh_cell_id(lo)) & DH_ATOMIC) || !dh_step_ordered(t, lo)))
            return false;
        *ret_cells = two ? dh_pair_of(me) : dh_pair_make(me, DH_CELL_NONE);
        if (!(two ? dh_pair_cas(p, old, *ret_cells) : dh_cell_cas(p, lo, me)))
            return false;
    } else if (two && dh_cell_is_history(lo) && dh_cell_is_history(hi)) {
        if ((!read && !(harmless(t, lo) && harmless(t, hi))) || !put_in_place(a, lo, hi) ||
            !dh_pair_eq(dh_pair_load_fenced(p), old))
            return false;
        *ret_cells = old;
    } else {
        return false;
    }
    return dh_range_settled(p, dh_pair_lo(*ret_cells)) &&
           (!two || dh_range_settled(p + 1, dh_pair_hi(*ret_cells))) &&
           all_harmless(a, d, read ? 1u << DH_NTH_WRITE : dh_engine_readers(t, a->addr) | 1u << t->class,
                        two);
}

/* Record access a. True, and its cells, if these can be remembered as holding it. */
static bool record_now(const struct dh_access_now *a, struct dh_done *d, enum dh_plane plane,
                       dh_pair_t *ret_cells)
{
    bool whole = (a->size == 4 || a->size == 8) && !(a->addr & (a->size - 1));
    if (whole && record_unit(a, d, plane, ret_cells)) {
        if (plane == DH_PLANE_READ)
            dh_unsampled_show(a->addr, a->size);
        return true;
    }
    dh_engine_words(a, a->addr, a->addr + a->size);
    dh_cell_t me = dh_cell_make(a->id, dh_mask_aligned(a->addr, a->size));
    return cells_now(plane, ret_cells) && holds(a->t, dh_pair_lo(*ret_cells), me) &&
           (a->size < 8 || dh_pair_is_even(*ret_cells) || holds(a->t, dh_pair_hi(*ret_cells), me));
}

/* Nothing is recorded between two sampling periods, so one check suffices for the whole pause. */
static DH_NOINLINE void record_unsampled(struct dh_access_now *a, struct dh_done *d)
{
    u32 pause = __atomic_load_n(&dh_period_pause, __ATOMIC_RELAXED);
    u32 moves = __atomic_load_n(&dh_unsampled_moves, __ATOMIC_RELAXED);
    if (pause && d->pause == pause && d->pause_moves == moves && d->pause_size == a->size)
        return;
    dh_unsampled_access(a, now.pc);
    d->pause = pause;
    d->pause_moves = moves;
    d->pause_size = (u32)a->size;
}

/*
 * Record an atomic read or write, unless these cells already hold one of this thread's current epoch: that
 * one suffices, whatever the calling context, as for plain accesses (engine.md, "The inlined check").
 */
static void record(struct dh_thread *t, u32 kind)
{
    enum dh_plane plane = kind == DH_WRITE ? DH_PLANE_WRITE : DH_PLANE_READ;
    struct dh_access_now a = {.t = t, .addr = now.addr, .size = now.size, .kind = DH_ATOMIC | kind};
    if (t->untracked)
        return;
    struct dh_done *d = &seen_entry(t)->done[kind == DH_WRITE];
    if (DH_UNLIKELY(t->unsampled)) {
        record_unsampled(&a, d);
        return;
    }
    u32 clock = dh_thread_epoch(t);
    dh_pair_t cells;
    dh_rule(t, DH_COUNT_ATOMIC);
    if (d->size == now.size && d->clock == clock && d->gen == t->gen && cells_now(plane, &cells) &&
        dh_pair_eq(cells, d->cells) && dh_rule_yes(t, DH_COUNT_ATOMIC_SAME)) {
        dh_recheck_known_cells(t, a.kind, a.addr, now.size, cells);
        return;
    }
    d->size = 0;
    if (!dh_step_identify(&a, now.pc))
        return;
    struct dh_recheck *r = dh_recheck_range(t, a.kind, a.addr, a.size, a.size, 1);
    bool lasting = record_now(&a, d, plane, &cells);
    dh_recheck_end(r);
    if (!lasting)
        return;
    d->cells = cells;
    d->clock = clock;
    d->gen = t->gen;
    d->size = now.size;
}

/* ---- Loads with nothing left to do ---- */

/* Is what was found at e's address still all there is: the same object with the same version, or none? */
static bool is_current(const struct dh_seen *e)
{
    const struct dh_sync *o = e->object;
    if (o)
        return __atomic_load_n(&o->addr, __ATOMIC_ACQUIRE) == e->addr && !(e->version & 1) &&
               dh_sync_version(o) == e->version;
    return !(e->absent & 1) && __atomic_load_n(e->chains, __ATOMIC_ACQUIRE) == e->absent;
}

/*
 * A spinning thread does little but load one value again and again. If such a load is already recorded in
 * this epoch and everything the object publishes has been acquired, both before and after the load, there is
 * nothing left to do. NULL: that is not so.
 */
static struct dh_seen *known_load(struct dh_thread *t, uptr addr, u32 size, u32 order)
{
    struct dh_seen *e = &t->atomics.seen[seen_slot(addr)];
    const struct dh_done *d = &e->done[0];
    if (e->addr != addr || d->size != size || d->clock != dh_thread_epoch(t) || d->gen != t->gen ||
        t->gen != dh_collect_gen || (e->object && !e->acquired && acquires(order)) || !is_current(e))
        return NULL;
    if (!dh_pair_eq(dh_pair_load_unit(dh_shadow(addr, DH_PLANE_READ), size == 8), d->cells))
        return NULL;
    dh_recheck_known_cells(t, DH_READ | DH_ATOMIC, addr, size, d->cells);
    return e;
}

/* The handle that pre gives to post for such a load, and back. */
static void *known_handle(struct dh_seen *e)
{
    return (char *)e + 1;
}

static struct dh_seen *known_of(void *handle)
{
    return (uptr)handle & 1 ? (struct dh_seen *)((char *)handle - 1) : NULL;
}
_Static_assert(_Alignof(struct dh_seen) > 1 && _Alignof(struct dh_thread) > 1, "no handle is odd but these");

/* ---- Before ---- */

static void before_load(struct dh_thread *t, u32 order)
{
    /* A load from an address without a synchronisation object needs no lock: if one appears meanwhile, post
     * sees it. Nor does one where everything was acquired, as long as the object keeps its version until
     * post. */
    bool sure;
    struct dh_sync *o = find(t, &sure);
    const struct dh_seen *e = seen_entry(t);
    if (o) {
        now.version = dh_sync_version(o);
        now.trusting = e->version == now.version && !(now.version & 1) && (e->acquired || !acquires(order));
    }
    if (!now.trusting && (o || !sure))
        now.object = dh_sync_take(o, now.addr, false);
}

static void before_change(struct dh_thread *t, u32 order, u32 kind)
{
    bool publishes = releases(order) || t->fences.release.snap, store = kind == DH_ATOMIC_STORE, sure;
    /* A store acquires nothing, so it can be recorded before taking the lock, which is then held only
     * briefly. */
    if (store)
        record(t, DH_WRITE);
    struct dh_sync *o = find(t, &sure);
    /* The object must exist before the value does, or a load could see the value and acquire nothing. */
    if (o || !sure || publishes)
        now.object = dh_sync_take(o, now.addr, publishes);
    /* A store that publishes nothing ends a release sequence, so none may begin while it is under way. */
    while (store && !publishes && !now.object) {
        now.shard = dh_sync_take_absent(now.addr);
        if (now.shard)
            break;
        now.object = dh_sync_take(NULL, now.addr, false);
    }
    now.changing = now.object && (publishes || store);
    if (now.changing)
        dh_sync_change(now.object);
}

/* While all threads are settled (threads/period.h) there is nothing to do, before the operation or after. The
 * operation is still made inside the runtime: a period begins only when all such operations are over. */
static u64 settled_handle; /* its address; not an odd one */

static bool begin_settled(struct dh_thread *t)
{
    if (!t || t->in_rt)
        return false;
    t->in_rt = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (DH_LIKELY(__atomic_load_n(&dh_period_all_settled, __ATOMIC_RELAXED))) {
        t->work++;
        return true;
    }
    dh_thread_leave(t);
    return false;
}

void *dh_atomic_begin(const volatile void *p, u32 size, u32 order, u32 kind, const void *pc)
{
    struct dh_thread *t = __dh_hot.self;
    if (DH_UNLIKELY(__atomic_load_n(&dh_period_all_settled, __ATOMIC_RELAXED)) && begin_settled(t))
        return &settled_handle;
    dh_sink_before_atomic(p, size, order, kind, pc);
    if (!t || dh_runtime_off || t->alone || !dh_thread_enter_any(t))
        return NULL;
    t->work++;
    if (kind == DH_ATOMIC_LOAD && !dh_tap && !dh_rules_on && !t->unordered && !t->untracked &&
        !t->unsampled) {
        struct dh_seen *e = known_load(t, (uptr)p, size, order);
        if (e)
            return known_handle(e);
    }
    now = (struct dh_atomic_now){.addr = (uptr)p, .size = size, .pc = pc};
    if (DH_UNLIKELY(dh_tap != NULL))
        now.object = dh_sync_take(NULL, now.addr, true);
    else if (DH_UNLIKELY(t->unordered))
        return t; /* post records the access; what the object publishes stays as it is */
    else if (kind == DH_ATOMIC_LOAD)
        before_load(t, order);
    else
        before_change(t, order, kind);
    return t;
}

void *__dh_atomic_pre(const volatile void *p, u32 size, u32 order, u32 kind)
{
    return dh_atomic_begin(p, size, order, kind, __builtin_return_address(0));
}

/* ---- After ---- */

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
    *p = (struct dh_publish){.snap = both, .slot = DH_SLOT_NONE};
}

static void take_in(struct dh_thread *t, struct dh_sync *o, u32 order)
{
    DH_ASSERT(dh_lock_is_mine(&o->lock));
    if (acquires(order))
        dh_thread_acquire(t, &o->write);
    else if (!dh_vclock_knows(&t->vc, &o->write))
        join_publish(&t->fences.acquire, &o->write);
}

/* Publish in a locked object whose version is odd. */
static void give_out(struct dh_thread *t, struct dh_sync *o, u32 order, bool rmw)
{
    DH_ASSERT(dh_lock_is_mine(&o->lock) && (o->version & 1));
    bool fenced = t->fences.release.snap != NULL, joins = rmw || o->kept;
    if (releases(order))
        dh_thread_release(t, &o->write, joins);
    else if (fenced && joins)
        join_publish(&o->write, &t->fences.release);
    else if (fenced)
        dh_publish_copy(&o->write, &t->fences.release);
    else if (!joins)
        dh_publish_clear(&o->write);
}

/* The object, locked, for a reading operation that had none: one may have appeared meanwhile. */
static struct dh_sync *late_object(struct dh_thread *t)
{
    bool sure;
    struct dh_sync *o = find(t, &sure);
    return o || !sure ? dh_sync_take(o, now.addr, false) : NULL;
}

/* After a load: acquire what belongs to the value read. */
static void after_load(struct dh_thread *t, u32 order)
{
    struct dh_sync *o = now.object;
    if (now.trusting && dh_sync_version(seen_entry(t)->object) == now.version)
        return;
    if (!o)
        o = late_object(t);
    if (!o)
        return;
    take_in(t, o, order);
    remember(t, o, acquires(order));
    dh_sync_drop(o);
}

static void after_store(struct dh_thread *t, u32 order)
{
    struct dh_sync *o = now.object;
    if (now.shard)
        dh_sync_drop_absent(now.shard);
    if (!o)
        return;
    give_out(t, o, order, false);
    dh_sync_changed(o);
    remember(t, o, !o->kept); /* it publishes what this thread already has, or nothing */
    dh_sync_drop(o);
}

static void after_exchange(struct dh_thread *t, u32 order, bool stored)
{
    struct dh_sync *o = now.object ? now.object : late_object(t);
    u32 kind = stored ? DH_WRITE : DH_READ;
    if (!o) {
        record(t, kind);
        return;
    }
    take_in(t, o, order);
    if (now.changing && stored) {
        record(t, kind); /* before its epoch ends */
        give_out(t, o, order, true);
        dh_sync_changed(o);
    } else if (now.changing) {
        __atomic_store_n(&o->version, now.object->version - 1, __ATOMIC_RELEASE); /* nothing has changed */
    }
    remember(t, o, acquires(order));
    dh_sync_drop(o);
    if (!now.changing || !stored)
        record(t, kind);
}

/* Replaces all of the above: the operation goes to the tap, with its object still locked. Not in sink.h,
 * because instrumented code makes two calls with its own operation between them. */
static DH_COLD void tap(struct dh_thread *t, u32 order, u32 kind)
{
    static const u8 ops[] = {DH_OP_ATOMIC_LOAD, DH_OP_ATOMIC_STORE, DH_OP_ATOMIC_RMW, DH_OP_ATOMIC_LOAD};
    bool write = kind == DH_ATOMIC_STORE || kind == DH_ATOMIC_RMW;
    u8 op = ops[kind];
    struct dh_tap_access a = {
        .addr = now.addr, .size = now.size, .kind = DH_ATOMIC | (write ? DH_WRITE : DH_READ), .pc = now.pc};
    if (t->untracked)
        a.size = 0; /* the order only */
    if (kind == DH_ATOMIC_STORE && now.object && now.object->kept)
        op = DH_OP_ATOMIC_RMW; /* it ends nothing */
    if (t->unordered) {
        if (a.size)
            dh_tap->access(t, &a);
    } else {
        dh_tap->atomic(t, op, order, &a);
    }
    if (now.object)
        dh_sync_drop(now.object);
}

/* After a load that known_load accepted. */
static void after_known_load(struct dh_thread *t, const struct dh_seen *e, u32 order, const void *pc)
{
    DH_ASSERT(t->in_rt && !now.size);
    if (DH_UNLIKELY(!is_current(e))) {
        now = (struct dh_atomic_now){.addr = e->addr, .size = e->done[0].size, .pc = pc};
        after_load(t, order);
        now.size = 0;
    }
    dh_thread_leave(t);
}

void __dh_atomic_post(void *h, u32 order, u32 kind)
{
    struct dh_thread *t = h;
    if (h == &settled_handle) {
        dh_thread_leave(__dh_hot.self);
        return;
    }
    const struct dh_seen *known = known_of(h);
    if (known) {
        after_known_load(__dh_hot.self, known, order, __builtin_return_address(0));
        return;
    }
    if (!t)
        return;
    DH_ASSERT(t == __dh_hot.self && t->in_rt && now.size);
    if (DH_UNLIKELY(dh_tap != NULL)) {
        tap(t, order, kind);
    } else if (DH_UNLIKELY(t->unordered)) {
        record(t, kind == DH_ATOMIC_STORE || kind == DH_ATOMIC_RMW ? DH_WRITE : DH_READ);
    } else if (kind == DH_ATOMIC_LOAD) {
        after_load(t, order);
        record(t, DH_READ);
    } else if (kind == DH_ATOMIC_STORE) {
        after_store(t, order);
    } else {
        after_exchange(t, order, kind == DH_ATOMIC_RMW);
    }
    now.size = 0;
    dh_thread_leave(t);
}

void __dh_fence(u32 order)
{
    struct dh_thread *t = __dh_hot.self;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!t || dh_runtime_off || t->unordered || t->alone ||
        __atomic_load_n(&dh_period_all_settled, __ATOMIC_RELAXED) || !dh_thread_enter_any(t))
        return;
    if (DH_UNLIKELY(dh_tap != NULL)) /* not in sink.h: instrumented code comes here without it */
        dh_tap->sync(t, DH_OP_FENCE, order, 0);
    else if (acquires(order) && t->fences.acquire.snap) {
        dh_thread_acquire(t, &t->fences.acquire);
        dh_publish_clear(&t->fences.acquire);
    }
    if (releases(order) && !dh_tap)
        dh_thread_release(t, &t->fences.release, false);
    dh_thread_leave(t);
}

struct dh_atomic_now dh_atomic_suspend(void)
{
    struct dh_atomic_now was = now;
    now = (struct dh_atomic_now){0};
    if (!was.size) /* none is under way: the remains of the last one hold nothing */
        return now;
    if (was.changing)
        __atomic_store_n(&was.object->version, was.object->version - 1, __ATOMIC_RELEASE);
    if (was.object)
        dh_sync_drop(was.object);
    if (was.shard)
        dh_sync_drop_absent(was.shard);
    return was;
}

void dh_atomic_resume(const struct dh_atomic_now *was)
{
    if (!was->size)
        return;
    now = *was;
    now.trusting = false; /* the version it relied on may have changed */
    if (was->object || was->shard)
        now.object = dh_sync_take(NULL, was->addr, true);
    now.shard = NULL;
    now.changing = now.object && (was->changing || was->shard);
    if (now.changing)
        dh_sync_change(now.object);
}
