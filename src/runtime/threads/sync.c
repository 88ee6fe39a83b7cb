/*
 * sync.c - synchronisation objects: finds the one of an address, usually without locks. order.c uses them.
 *
 * Objects are hashed by 256-byte block, so that forgetting a range of memory visits one chain per block, and
 * none where the block's shard is empty. A shard's lock guards which objects there are; each object has a
 * lock for what it publishes. Objects are found without the shard's lock: they and the tables of chains are
 * never freed, so a walk concurrent with a change is safe, at worst it strays into another chain. What it
 * finds is right if the object, once locked, still has that address; finding nothing is right if the shard's
 * version was the same even number before and after.
 */
#include "runtime/threads/sync.h"

#include "base/pool.h"
#include "runtime/init.h"
#include "runtime/sink/sink.h"

#define SHARD_BITS 10
#define SHARDS (1u << SHARD_BITS)
#define BLOCK_SHIFT 8
#define LARGE_BLOCKS (64u << 10) /* 16 MiB */
enum { WALK_MAX = 256 };         /* longer only if it strayed */

struct table {
    u32 n; /* power of two */
    struct dh_sync *chains[];
};

struct dh_sync_shard {
    struct dh_lock lock;
    u32 count;             /* written under the lock, read without */
    u32 version;           /* odd while chains change; likewise */
    struct table *table;   /* NULL: no object yet; likewise */
    struct dh_sync *spare; /* objects for reuse; under the lock */
} __attribute__((aligned(64)));

static struct dh_sync_shard shards[SHARDS];

/* The number of objects in each 64 KiB, modulo AREAS: most memory that is cleared or moved has none.
 * Atomic. */
enum { AREA_SHIFT = 16, AREAS = 1024 };
static u32 areas[AREAS];

static u32 *area_of(uptr addr)
{
    return &areas[(addr >> AREA_SHIFT) % AREAS];
}

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

/* May the shard hold anything? Without locking; false is certain only if no object is being created. */
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
    DH_ASSERT(!(s->version & 1));
    __atomic_store_n(&s->version, s->version + 1, __ATOMIC_SEQ_CST);
}

static void unlock_chains(struct dh_sync_shard *s)
{
    DH_ASSERT(s->version & 1);
    __atomic_store_n(&s->version, s->version + 1, __ATOMIC_RELEASE);
    dh_lock_drop(&s->lock);
}

static void link_in(struct table *table, struct dh_sync *o)
{
    struct dh_sync **chain = &table->chains[(u32)block_hash(o->addr) & (table->n - 1)];
    __atomic_store_n(&o->next, *chain, __ATOMIC_RELEASE);
    __atomic_store_n(chain, o, __ATOMIC_RELEASE);
}

/* The old table stays: another thread may be walking it. Each is half as large as the next. */
static void grow(struct dh_sync_shard *s)
{
    DH_ASSERT(dh_lock_is_mine(&s->lock));
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
    DH_ASSERT(dh_lock_is_mine(&s->lock));
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
    __atomic_store_n(&o->kept, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&o->addr, addr, __ATOMIC_RELEASE);
    dh_sync_changed(o);
    dh_lock_drop(&o->lock);
}

static struct dh_sync *add(struct dh_sync_shard *s, uptr addr)
{
    DH_ASSERT(addr && dh_lock_is_mine(&s->lock) && (s->version & 1));
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
    __atomic_fetch_add(area_of(addr), 1, __ATOMIC_RELEASE);
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

void dh_sync_keep(uptr addr)
{
    struct dh_sync *o = dh_sync_take(NULL, addr, true);
    if (!o)
        return;
    __atomic_store_n(&o->kept, 1, __ATOMIC_RELAXED);
    dh_sync_drop(o);
}

/* ---- Forgetting and moving ---- */

/* Take the objects in [lo, hi) out of a chain: onto *list, or if that is NULL, for reuse. In a locked
 * shard. */
static void unlink_chain(struct dh_sync_shard *s, struct dh_sync **link, uptr lo, uptr hi,
                         struct dh_sync **list)
{
    DH_ASSERT(dh_lock_is_mine(&s->lock) && (s->version & 1));
    while (*link) {
        struct dh_sync *o = *link;
        if (o->addr < lo || o->addr >= hi) {
            link = &o->next;
            continue;
        }
        __atomic_store_n(link, o->next, __ATOMIC_RELEASE);
        __atomic_fetch_sub(area_of(o->addr), 1, __ATOMIC_RELEASE);
        if (!list)
            set_addr(o, 0);
        struct dh_sync **to = list ? list : &s->spare;
        __atomic_store_n(&o->next, *to, __ATOMIC_RELEASE);
        *to = o;
        __atomic_store_n(&s->count, s->count - 1, __ATOMIC_RELEASE);
    }
}

bool dh_sync_maybe(uptr lo, size_t n)
{
    uptr first = lo >> AREA_SHIFT, last = (lo + n) >> AREA_SHIFT;
    for (uptr i = first; i <= last && i - first < AREAS; i++)
        if (__atomic_load_n(&areas[i % AREAS], __ATOMIC_ACQUIRE))
            return true;
    return false;
}

/* For a range with many more blocks than there are objects (terabytes are mapped): walk all chains
 * instead. */
static void unlink_large(uptr lo, uptr hi, struct dh_sync **list)
{
    for (u32 i = 0; i < SHARDS; i++) {
        struct dh_sync_shard *s = &shards[i];
        if (!maybe(s))
            continue;
        lock_chains(s);
        for (u32 b = 0; b < s->table->n; b++)
            unlink_chain(s, &s->table->chains[b], lo, hi, list);
        unlock_chains(s);
    }
}

static void unlink_range(uptr lo, size_t n, struct dh_sync **list)
{
    uptr hi = lo + n;
    if (n >> BLOCK_SHIFT >= LARGE_BLOCKS) {
        unlink_large(lo, hi, list);
        return;
    }
    for (uptr block = lo >> BLOCK_SHIFT; block <= (hi - 1) >> BLOCK_SHIFT && n; block++) {
        if (!__atomic_load_n(area_of(block << BLOCK_SHIFT), __ATOMIC_ACQUIRE)) {
            block |= ((uptr)1 << (AREA_SHIFT - BLOCK_SHIFT)) - 1; /* the last one of the area */
            continue;
        }
        u64 hash = block_hash(block << BLOCK_SHIFT);
        struct dh_sync_shard *s = shard_of(hash);
        bool sure = true;
        if (!maybe(s) || (!walk(s, hash, lo, hi, &sure) && sure))
            continue;
        lock_chains(s);
        if (s->table)
            unlink_chain(s, &s->table->chains[(u32)hash & (s->table->n - 1)], lo, hi, list);
        unlock_chains(s);
    }
}

void dh_sync_forget(const volatile void *p, size_t n)
{
    unlink_range((uptr)p, n, NULL);
}

/* Insert an object that is in no chain, at this address. */
static void put_at(struct dh_sync *o, uptr addr)
{
    struct dh_sync_shard *s = shard_of(block_hash(addr));
    lock_chains(s);
    if (!s->table || s->count >= s->table->n)
        grow(s);
    if (s->table) {
        dh_lock_take(&o->lock);
        dh_sync_change(o);
        __atomic_store_n(&o->addr, addr, __ATOMIC_RELEASE);
        dh_sync_changed(o);
        dh_lock_drop(&o->lock);
        link_in(s->table, o);
        __atomic_store_n(&s->count, s->count + 1, __ATOMIC_RELEASE);
        __atomic_fetch_add(area_of(addr), 1, __ATOMIC_RELEASE);
    } else {
        dh_runtime_degrade("no memory for synchronisation objects");
    }
    unlock_chains(s);
}

void dh_sync_move(const volatile void *dst, const volatile void *src, size_t n)
{
    struct dh_sync *list = NULL;
    unlink_range((uptr)src, n, &list);
    unlink_range((uptr)dst, n, NULL);
    for (struct dh_sync *o = list, *next; o; o = next) {
        next = o->next;
        put_at(o, o->addr - (uptr)src + (uptr)dst);
    }
}

/* A shard's lock is taken before those of its objects and dropped after them, so that none is created in
 * between. */
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
