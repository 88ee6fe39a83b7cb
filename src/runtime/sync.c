/*
 * sync.c - clocks through locks, semaphores and everything else that has an address (FastTrack figure 4).
 *
 * Objects are hashed by 256-byte block, so that forgetting a range of memory visits one chain per block,
 * and none where the block's shard is empty. A shard's lock is the lock of all its objects.
 */
#include "runtime/sync.h"

#include "base/pool.h"
#include "runtime/init.h"
#include "runtime/lockset.h"

#define SHARD_BITS 10
#define SHARDS (1u << SHARD_BITS)
#define BLOCK_SHIFT 8
#define LARGE_BLOCKS (64u << 10) /* 16 MiB */

struct dh_sync_shard {
    struct dh_lock lock;
    u32 count;     /* written under the lock, read without */
    u32 version;   /* likewise */
    u32 buckets_n; /* power of two, or 0 */
    struct dh_sync **buckets;
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

static struct dh_sync_shard *shard_of(uptr addr)
{
    return &shards[block_hash(addr) >> (64 - SHARD_BITS)];
}

struct dh_sync_shard *dh_sync_lock_read(uptr addr)
{
    struct dh_sync_shard *s = shard_of(addr);
    dh_lock_take(&s->lock);
    return s;
}

void dh_sync_unlock_read(struct dh_sync_shard *s)
{
    dh_lock_drop(&s->lock);
}

struct dh_sync_shard *dh_sync_lock(uptr addr)
{
    struct dh_sync_shard *s = dh_sync_lock_read(addr);
    __atomic_store_n(&s->version, s->version + 1, __ATOMIC_SEQ_CST);
    return s;
}

void dh_sync_unlock(struct dh_sync_shard *s)
{
    __atomic_store_n(&s->version, s->version + 1, __ATOMIC_RELEASE);
    dh_sync_unlock_read(s);
}

u32 dh_sync_version(uptr addr)
{
    return __atomic_load_n(&shard_of(addr)->version, __ATOMIC_ACQUIRE);
}

bool dh_sync_maybe(uptr addr)
{
    return __atomic_load_n(&shard_of(addr)->count, __ATOMIC_ACQUIRE) != 0;
}

static struct dh_sync **bucket_of(struct dh_sync_shard *s, uptr addr)
{
    return &s->buckets[(u32)block_hash(addr) & (s->buckets_n - 1)];
}

static void grow(struct dh_sync_shard *s)
{
    u32 old_n = s->buckets_n, n = old_n ? old_n * 2 : 4;
    struct dh_sync **old = s->buckets, **fresh = dh_pool_alloc(n * sizeof(*fresh));
    if (!fresh)
        return;
    s->buckets = fresh;
    s->buckets_n = n;
    for (u32 i = 0; i < old_n; i++) {
        for (struct dh_sync *o = old[i], *next; o; o = next) {
            next = o->next;
            struct dh_sync **b = bucket_of(s, o->addr);
            o->next = *b;
            *b = o;
        }
    }
    dh_pool_free(old, old_n * sizeof(*old));
}

struct dh_sync *dh_sync_find(struct dh_sync_shard *s, uptr addr, bool create)
{
    if (s->buckets_n)
        for (struct dh_sync *o = *bucket_of(s, addr); o; o = o->next)
            if (o->addr == addr)
                return o;
    if (!create)
        return NULL;
    if (s->count >= s->buckets_n)
        grow(s);
    struct dh_sync *o = s->buckets_n ? dh_pool_alloc(sizeof(*o)) : NULL;
    if (!o) {
        dh_runtime_degrade("no memory for synchronisation objects");
        return NULL;
    }
    o->addr = addr;
    struct dh_sync **b = bucket_of(s, addr);
    o->next = *b;
    *b = o;
    __atomic_store_n(&s->count, s->count + 1, __ATOMIC_RELEASE);
    return o;
}

/* Drop the objects of one chain that lie in [lo, hi). In a locked shard. */
static void forget_chain(struct dh_sync_shard *s, struct dh_sync **link, uptr lo, uptr hi)
{
    while (*link) {
        struct dh_sync *o = *link;
        if (o->addr < lo || o->addr >= hi) {
            link = &o->next;
            continue;
        }
        *link = o->next;
        dh_publish_clear(&o->write);
        dh_publish_clear(&o->read);
        dh_pool_free(o, sizeof(*o));
        __atomic_store_n(&s->count, s->count - 1, __ATOMIC_RELEASE);
    }
}

/* For a range of many more blocks than there are objects (terabytes are mapped): all chains instead. */
static void forget_large(uptr lo, uptr hi)
{
    for (u32 i = 0; i < SHARDS; i++) {
        struct dh_sync_shard *s = &shards[i];
        if (!__atomic_load_n(&s->count, __ATOMIC_ACQUIRE))
            continue;
        dh_lock_take(&s->lock);
        for (u32 b = 0; b < s->buckets_n; b++)
            forget_chain(s, &s->buckets[b], lo, hi);
        dh_lock_drop(&s->lock);
    }
}

void dh_sync_forget(const volatile void *p, size_t n)
{
    uptr lo = (uptr)p, hi = lo + n;
    if (n >> BLOCK_SHIFT >= LARGE_BLOCKS) {
        forget_large(lo, hi);
        return;
    }
    for (uptr block = lo >> BLOCK_SHIFT; block <= (hi - 1) >> BLOCK_SHIFT && n; block++) {
        uptr at = block << BLOCK_SHIFT;
        if (!dh_sync_maybe(at))
            continue;
        struct dh_sync_shard *s = dh_sync_lock(at);
        if (s->buckets_n)
            forget_chain(s, bucket_of(s, at), lo, hi);
        dh_sync_unlock(s);
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
        dh_snap_unref(t->snap);
        t->snap = NULL;
        t->changed = true;
    }
}

/* Nothing was recorded or learned in this epoch. */
static bool idle(const struct dh_thread *t)
{
    return __dh_hot.self == t && __dh_hot.count == 0 && t->special_next == t->special_floor && !t->changed;
}

/* FastTrack's inc_t. Ids of the ended epoch are no longer hit by the inlined check. */
void dh_thread_end_epoch(struct dh_thread *t)
{
    if (__dh_hot.self == t) {
        if (idle(t))
            return;
        __dh_hot.base += __dh_hot.count;
        __dh_hot.count = 0;
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
    if (join && !dh_vclock_knows(&t->vc, p)) {
        t->changed = true; /* the copy names the present epoch: end it */
        struct dh_snap *s = dh_snap_join(p, &t->vc);
        if (!s) {
            dh_runtime_degrade("no memory for vector clocks");
            return;
        }
        dh_publish_clear(p);
        *p = (struct dh_publish){.snap = s, .slot = DH_NO_SLOT};
    } else {
        if (!t->snap && !(t->snap = dh_snap_of(&t->vc))) {
            dh_runtime_degrade("no memory for vector clocks");
            return;
        }
        dh_snap_ref(t->snap);
        dh_snap_unref(p->snap);
        *p = (struct dh_publish){.snap = t->snap, .slot = t->slot, .clock = own};
    }
    dh_thread_end_epoch(t);
}

/* ---- Plain edges ---- */

void dh_sync_acquire(struct dh_thread *t, const volatile void *addr)
{
    if (!dh_sync_maybe((uptr)addr))
        return;
    struct dh_sync_shard *s = dh_sync_lock((uptr)addr);
    struct dh_sync *o = dh_sync_find(s, (uptr)addr, false);
    if (o)
        dh_thread_acquire(t, &o->write);
    dh_sync_unlock(s);
}

static void release(struct dh_thread *t, const volatile void *addr, bool join)
{
    struct dh_sync_shard *s = dh_sync_lock((uptr)addr);
    struct dh_sync *o = dh_sync_find(s, (uptr)addr, true);
    if (o)
        dh_thread_release(t, &o->write, join);
    dh_sync_unlock(s);
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
    if (!dh_sync_maybe((uptr)m))
        return;
    struct dh_sync_shard *s = dh_sync_lock((uptr)m);
    struct dh_sync *o = dh_sync_find(s, (uptr)m, false);
    if (o) {
        dh_thread_acquire(t, &o->write);
        if (!(flags & DH_LOCK_READ))
            dh_thread_acquire(t, &o->read);
    }
    dh_sync_unlock(s);
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
    struct dh_sync_shard *s = dh_sync_lock((uptr)m);
    struct dh_sync *o = dh_sync_find(s, (uptr)m, true);
    if (o && read) {
        dh_thread_release(t, &o->read, true);
    } else if (o && !h) {
        /* Too many to remember (DH_HELD_MAX), or another thread's: in which mode it was held is not known.
         * Joined to what everyone sees, it orders at least what it must. */
        dh_thread_release(t, &o->write, true);
    } else if (o) {
        /* Whoever holds it exclusively has taken in all earlier releases, so this one replaces them. */
        dh_publish_clear(&o->read);
        dh_thread_release(t, &o->write, false);
    }
    dh_sync_unlock(s);
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
            c->result = dh_lockset_add(set, h->lock, read, h->ctx);
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

void dh_sync_each_lock(dh_lock_fn *fn)
{
    for (u32 i = 0; i < SHARDS; i++)
        fn(&shards[i].lock);
}
