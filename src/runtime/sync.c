/*
 * sync.c - clocks through locks, semaphores and everything else that has an address (FastTrack figure 4).
 *
 * Objects are hashed by 256-byte block, so that forgetting a range of memory visits one chain per block,
 * and none where the block's shard is empty. A shard's lock guards which objects there are; each object has a
 * lock for what it publishes. Objects are found without the shard's lock: they and the tables of chains are
 * never freed, so a walk that meets a change reads nothing bad, at worst it goes astray. What it finds is
 * right if the object, once locked, still has that address; that it finds nothing is right if the shard's
 * version was the same even number before and after.
 */
#include "runtime/sync.h"

#include "base/pool.h"
#include "runtime/init.h"
#include "runtime/lockset.h"
#include "runtime/tap.h"

#define SHARD_BITS 10
#define SHARDS (1u << SHARD_BITS)
#define BLOCK_SHIFT 8
#define LARGE_BLOCKS (64u << 10) /* 16 MiB */
enum { WALK_MAX = 256 };         /* longer only if it went astray */

struct table {
    u32 n; /* power of two */
    struct dh_sync *chains[];
};

struct dh_sync_shard {
    struct dh_lock lock;
    u32 count;             /* written under the lock, read without */
    u32 version;           /* odd while chains change; likewise */
    struct table *table;   /* NULL: no object yet; likewise */
    struct dh_sync *spare; /* objects to be used again; under the lock */
} __attribute__((aligned(64)));

static struct dh_sync_shard shards[SHARDS];

void dh_sync_init(void)
{
    for (u32 i = 0; i < SHARDS; i++)
        shards[i].lock.rank = DH_RANK_SYNC;
}

static u64 block_hash(uptr addr)
{
    return dh_hash64(addr >> BLOCK_SHIFT);
}

static struct dh_sync_shard *shard_of(u64 hash)
{
    return &shards[hash >> (64 - SHARD_BITS)];
}

/* Without locking: may the shard hold anything? False is certain only in the absence of concurrent creation.
 */
static bool maybe(const struct dh_sync_shard *s)
{
    return __atomic_load_n(&s->count, __ATOMIC_ACQUIRE) != 0;
}

/* The first object in [lo, hi), all of one block, in that block's chain. */
static struct dh_sync *walk(const struct dh_sync_shard *s, u64 hash, uptr lo, uptr hi, bool *ret_sure)
{
    u32 version = __atomic_load_n(&s->version, __ATOMIC_ACQUIRE), steps = 0;
    const struct table *table = __atomic_load_n(&s->table, __ATOMIC_ACQUIRE);
    struct dh_sync *o =
        table ? __atomic_load_n(&table->chains[(u32)hash & (table->n - 1)], __ATOMIC_ACQUIRE) : NULL;
    for (; o && steps < WALK_MAX; steps++) {
        uptr at = __atomic_load_n(&o->addr, __ATOMIC_ACQUIRE);
        if (at >= lo && at < hi)
            return o;
        o = __atomic_load_n(&o->next, __ATOMIC_ACQUIRE);
    }
    *ret_sure = !o && !(version & 1) && __atomic_load_n(&s->version, __ATOMIC_ACQUIRE) == version;
    return NULL;
}

struct dh_sync *dh_sync_find(uptr addr, bool *ret_sure)
{
    u64 hash = block_hash(addr);
    *ret_sure = true;
    return maybe(shard_of(hash)) ? walk(shard_of(hash), hash, addr, addr + 1, ret_sure) : NULL;
}

const u32 *dh_sync_chains(uptr addr)
{
    return &shard_of(block_hash(addr))->version;
}

/* ---- Chains, in a locked shard ---- */

static void lock_chains(struct dh_sync_shard *s)
{
    dh_lock_take(&s->lock);
    __atomic_store_n(&s->version, s->version + 1, __ATOMIC_SEQ_CST);
}

static void unlock_chains(struct dh_sync_shard *s)
{
    __atomic_store_n(&s->version, s->version + 1, __ATOMIC_RELEASE);
    dh_lock_drop(&s->lock);
}

static void link_in(struct table *table, struct dh_sync *o)
{
    struct dh_sync **chain = &table->chains[(u32)block_hash(o->addr) & (table->n - 1)];
    __atomic_store_n(&o->next, *chain, __ATOMIC_RELEASE);
    __atomic_store_n(chain, o, __ATOMIC_RELEASE);
}

/* The old table stays: someone may be walking there. Each is half as large as the next. */
static void grow(struct dh_sync_shard *s)
{
    struct table *old = s->table;
    u32 n = old ? old->n * 2 : 4;
    struct table *fresh = dh_pool_alloc(sizeof(*fresh) + n * sizeof(fresh->chains[0]));
    if (!fresh)
        return; /* longer chains are only slower */
    fresh->n = n;
    for (u32 i = 0; old && i < old->n; i++) {
        for (struct dh_sync *o = old->chains[i], *next; o; o = next) {
            next = o->next;
            link_in(fresh, o);
        }
    }
    __atomic_store_n(&s->table, fresh, __ATOMIC_RELEASE);
}

static struct dh_sync *search(const struct dh_sync_shard *s, u64 hash, uptr addr)
{
    struct dh_sync *o = s->table ? s->table->chains[(u32)hash & (s->table->n - 1)] : NULL;
    while (o && o->addr != addr)
        o = o->next;
    return o;
}

static void set_addr(struct dh_sync *o, uptr addr)
{
    dh_lock_take(&o->lock);
    dh_sync_change(o);
    dh_publish_clear(&o->write);
    dh_publish_clear(&o->read);
    __atomic_store_n(&o->addr, addr, __ATOMIC_RELEASE);
    dh_sync_changed(o);
    dh_lock_drop(&o->lock);
}

static struct dh_sync *add(struct dh_sync_shard *s, uptr addr)
{
    if (!s->table || s->count >= s->table->n)
        grow(s);
    struct dh_sync *o = s->spare;
    if (!s->table || (!o && !(o = dh_pool_alloc(sizeof(*o))))) {
        dh_runtime_degrade("no memory for synchronisation objects");
        return NULL;
    }
    if (o == s->spare)
        s->spare = o->next;
    o->lock.rank = DH_RANK_SYNC_OBJECT;
    set_addr(o, addr);
    link_in(s->table, o);
    __atomic_store_n(&s->count, s->count + 1, __ATOMIC_RELEASE);
    return o;
}

struct dh_sync *dh_sync_take(struct dh_sync *o, uptr addr, bool create)
{
    u64 hash = block_hash(addr);
    struct dh_sync_shard *s = shard_of(hash);
    for (;;) {
        bool sure = true;
        if (!o && maybe(s))
            o = walk(s, hash, addr, addr + 1, &sure);
        if (!o && (create || !sure)) {
            lock_chains(s);
            o = search(s, hash, addr);
            if (!o && create)
                o = add(s, addr);
            unlock_chains(s);
        }
        if (!o)
            return NULL;
        dh_lock_take(&o->lock);
        if (DH_LIKELY(o->addr == addr))
            return o;
        dh_lock_drop(&o->lock);
        o = NULL;
    }
}

struct dh_sync_shard *dh_sync_take_absent(uptr addr)
{
    u64 hash = block_hash(addr);
    struct dh_sync_shard *s = shard_of(hash);
    dh_lock_take(&s->lock);
    if (!search(s, hash, addr))
        return s;
    dh_lock_drop(&s->lock);
    return NULL;
}

void dh_sync_drop_absent(struct dh_sync_shard *s)
{
    dh_lock_drop(&s->lock);
}

/* ---- Forgetting ---- */

/* Drop the objects of one chain that lie in [lo, hi). In a locked shard. */
static void forget_chain(struct dh_sync_shard *s, struct dh_sync **link, uptr lo, uptr hi)
{
    while (*link) {
        struct dh_sync *o = *link;
        if (o->addr < lo || o->addr >= hi) {
            link = &o->next;
            continue;
        }
        __atomic_store_n(link, o->next, __ATOMIC_RELEASE);
        set_addr(o, 0);
        __atomic_store_n(&o->next, s->spare, __ATOMIC_RELEASE);
        s->spare = o;
        __atomic_store_n(&s->count, s->count - 1, __ATOMIC_RELEASE);
    }
}

/* For a range of many more blocks than there are objects (terabytes are mapped): all chains instead. */
static void forget_large(uptr lo, uptr hi)
{
    for (u32 i = 0; i < SHARDS; i++) {
        struct dh_sync_shard *s = &shards[i];
        if (!maybe(s))
            continue;
        lock_chains(s);
        for (u32 b = 0; b < s->table->n; b++)
            forget_chain(s, &s->table->chains[b], lo, hi);
        unlock_chains(s);
    }
}

void dh_sync_forget(const volatile void *p, size_t n)
{
    uptr lo = (uptr)p, hi = lo + n;
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_tap->forget(NULL, lo, n);
    if (n >> BLOCK_SHIFT >= LARGE_BLOCKS) {
        forget_large(lo, hi);
        return;
    }
    for (uptr block = lo >> BLOCK_SHIFT; block <= (hi - 1) >> BLOCK_SHIFT && n; block++) {
        u64 hash = block_hash(block << BLOCK_SHIFT);
        struct dh_sync_shard *s = shard_of(hash);
        bool sure = true;
        if (!maybe(s) || (!walk(s, hash, lo, hi, &sure) && sure))
            continue;
        lock_chains(s);
        if (s->table)
            forget_chain(s, &s->table->chains[(u32)hash & (s->table->n - 1)], lo, hi);
        unlock_chains(s);
    }
}

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
    if (DH_UNLIKELY(dh_tap != NULL))
        dh_tap->sync(t, DH_OP_VOLATILE, DH_READ, (uptr)addr);
    else
        acquire(t, (uptr)addr, false);
}

static void release(struct dh_thread *t, const volatile void *addr, bool join)
{
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
        t->held[t->held_n++] = (struct dh_held){(uptr)m, 1, dh_ctx_current(t), flags};
        t->held_gen++;
        t->stamp++;
    }
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
    if (DH_UNLIKELY(dh_tap != NULL)) {
        if (h)
            dh_tap->sync(t, DH_OP_RELEASE, read ? DH_SHARED : DH_EXCLUSIVE, (uptr)m);
        else
            dh_tap->release_foreign(t, (uptr)m);
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

/* A shard's lock is taken before those of its objects and dropped after them: nobody may make one between. */
void dh_sync_each_lock(dh_lock_fn *fn)
{
    bool taking = fn == dh_lock_fork_take;
    for (u32 i = 0; i < SHARDS; i++) {
        struct dh_sync_shard *s = &shards[i];
        if (taking)
            fn(&s->lock);
        for (u32 b = 0; s->table && b < s->table->n; b++)
            for (struct dh_sync *o = s->table->chains[b]; o; o = o->next)
                fn(&o->lock);
        for (struct dh_sync *o = s->spare; o; o = o->next)
            fn(&o->lock);
        if (!taking)
            fn(&s->lock);
    }
}
