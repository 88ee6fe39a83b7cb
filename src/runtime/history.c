/*
 * history.c - see history.h.
 */
#include "runtime/history.h"

#include <string.h>

#include "base/pool.h"
#include "event/access.h"
#include "runtime/ids.h"

#define SHARDS 64u
#define CHUNK_SHIFT 10
#define CHUNK (1u << CHUNK_SHIFT)
#define CHUNKS (1u << 16)
enum {
    LINE = 64,
    PRESSURE = 16 << 10,
    HISTORIES_FLOOR = 64 << 10,
    PRIVATE_MAX = 16 << 10,
    PRIVATE_SLOTS = 255
};

struct shard {
    struct dh_lock lock;
    u32 buckets_n; /* power of two, or 0 */
    u32 count;
    u32 *buckets; /* index of the newest history of each chain */
} __attribute__((aligned(64)));

static struct shard shards[SHARDS];
/* Index to object. A chunk is set once; an entry is written under `numbers`. */
static struct dh_history **table[CHUNKS];
static struct dh_lock numbers = DH_LOCK_INIT(DH_RANK_IDS);
static u32 numbers_used = 1; /* under `numbers`; 0 is not used */
static u32 free_number;      /* under `numbers`: head of a list threaded through the empty entries */
/* The collection under way, 0 if none. Written by the collector between two grace periods. */
static u32 marking;
static u32 privates;   /* first of a list of by_slot histories; under `numbers` */
static u32 privates_n; /* under `numbers` */
/* Made in all, and since the last collection; atomic. */
static u32 made, made_since;
static u32 keep = HISTORIES_FLOOR; /* collect after this many; written by the collector */

void dh_history_init(void)
{
    for (u32 i = 0; i < SHARDS; i++)
        shards[i].lock.rank = DH_RANK_HISTORY;
}

const struct dh_history *dh_history_get(u32 cell)
{
    u32 i = dh_cell_history_index(cell);
    return table[i >> CHUNK_SHIFT][i & (CHUNK - 1)];
}

static struct dh_history **entry_of(u32 i)
{
    return &table[i >> CHUNK_SHIFT][i & (CHUNK - 1)];
}

/* A free number; 0 if none. An entry in the free list holds the next free number, shifted and odd. */
static u32 number_take(struct dh_history *h)
{
    dh_lock_take(&numbers);
    u32 n = free_number;
    if (n) {
        free_number = (u32)((uptr)*entry_of(n) >> 1);
    } else if (numbers_used < CHUNKS * CHUNK) {
        struct dh_history ***chunk = &table[numbers_used >> CHUNK_SHIFT];
        if (!*chunk)
            *chunk = dh_pool_alloc(CHUNK * sizeof(**chunk));
        if (*chunk)
            n = numbers_used++;
    }
    if (n) {
        h->index = n;
        __atomic_store_n(entry_of(n), h, __ATOMIC_RELEASE);
    }
    dh_lock_drop(&numbers);
    return n;
}

static void number_give(u32 n)
{
    dh_lock_take(&numbers);
    *entry_of(n) = (struct dh_history *)((uptr)free_number << 1 | 1);
    free_number = n;
    dh_lock_drop(&numbers);
}

static void grow(struct shard *s)
{
    u32 n = s->buckets_n ? s->buckets_n * 2 : 64;
    u32 *fresh = dh_pool_alloc(n * sizeof(u32));
    if (!fresh)
        return; /* longer chains are only slower */
    for (u32 b = 0; b < s->buckets_n; b++) {
        for (u32 i = s->buckets[b], next; i; i = next) {
            struct dh_history *h = *entry_of(i);
            next = h->next;
            h->next = fresh[h->hash & (n - 1)];
            fresh[h->hash & (n - 1)] = i;
        }
    }
    dh_pool_free(s->buckets, s->buckets_n * sizeof(u32));
    s->buckets = fresh;
    s->buckets_n = n;
}

static void touch(struct dh_history *h)
{
    u32 now = __atomic_load_n(&marking, __ATOMIC_RELAXED);
    if (!now || __atomic_load_n(&h->mark, __ATOMIC_RELAXED) == now)
        return;
    __atomic_store_n(&h->mark, now, __ATOMIC_RELAXED);
    for (u32 i = h->first; i < h->n; i += h->step)
        dh_ids_mark(dh_cell_id(h->cells[i]));
}

static u32 intern(const u32 *entries, u32 n, u32 age)
{
    u64 hash = n;
    for (u32 i = 0; i < n; i++)
        hash = dh_hash64(hash ^ entries[i]);
    struct shard *s = &shards[hash >> 58];
    u32 low = (u32)hash;
    dh_lock_take(&s->lock);
    if (s->count >= s->buckets_n)
        grow(s);
    if (!s->buckets_n)
        goto none;
    u32 *bucket = &s->buckets[low & (s->buckets_n - 1)];
    for (u32 i = *bucket; i; i = (*entry_of(i))->next) {
        struct dh_history *h = *entry_of(i);
        if (h->hash == low && h->n == n && memcmp(h->cells, entries, n * sizeof(u32)) == 0) {
            touch(h);
            dh_lock_drop(&s->lock);
            return i;
        }
    }
    struct dh_history *h = dh_pool_alloc(sizeof(*h) + n * sizeof(u32));
    if (!h)
        goto none;
    h->hash = low;
    h->n = n;
    h->step = 1;
    h->age = age;
    memcpy(h->cells, entries, n * sizeof(u32));
    u32 number = number_take(h);
    if (!number) {
        dh_pool_free(h, sizeof(*h) + n * sizeof(u32));
        goto none;
    }
    touch(h);
    __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&made_since, 1, __ATOMIC_RELAXED);
    h->next = *bucket;
    *bucket = number;
    s->count++;
    dh_lock_drop(&s->lock);
    return number;
none:
    dh_lock_drop(&s->lock);
    return 0;
}

bool dh_history_cell(u32 *e, u32 n, u32 age, u32 *ret_cell)
{
    for (u32 i = 1; i < n; i++) { /* short, nearly sorted: insertion */
        u32 x = e[i], j = i;
        for (; j > 0 && dh_cell_id(e[j - 1]) > dh_cell_id(x); j--)
            e[j] = e[j - 1];
        e[j] = x;
    }
    u32 m = 0;
    for (u32 i = 0; i < n; i++) {
        if (m > 0 && dh_cell_id(e[m - 1]) == dh_cell_id(e[i]))
            e[m - 1] |= e[i];
        else
            e[m++] = e[i];
    }
    if (m <= 1) {
        *ret_cell = m ? e[0] : 0;
        return true;
    }
    u32 number = intern(e, m, age);
    *ret_cell = number | DH_CELL_HISTORY;
    return number != 0;
}

/* Spread h's entries over p's slots; false if two are of one thread (bytes apart, or atomic and not). */
static bool spread(struct dh_history *p, const struct dh_history *h)
{
    u32 atomics = 0;
    for (u32 i = 0; i < h->n; i++) {
        u32 id = dh_cell_id(h->cells[i]);
        u32 *entry = dh_history_entry(p, dh_id_slot(id));
        if (!entry || *entry)
            return false;
        *entry = h->cells[i];
        atomics += (dh_id_kind(id) & DH_ATOMIC) != 0;
    }
    p->by_slot = !atomics ? DH_BY_SLOT_PLAIN : atomics < h->n ? DH_BY_SLOT_MIXED : DH_BY_SLOT_ATOMIC;
    return true;
}

u32 dh_history_private(const struct dh_history *h)
{
    u32 slots = 7; /* with room for threads that have not come by yet; with the header a power of two */
    for (u32 i = 0; i < h->n; i++)
        while (slots <= dh_id_slot(dh_cell_id(h->cells[i])))
            slots = slots * 2 + 1;
    /* The first entry is on the line after the header's, the others 64 bytes apart, or less where that would
     * be much memory. */
    u32 first = (LINE - sizeof(*h)) / sizeof(u32), step = slots <= 15 ? 16 : slots <= 63 ? 4 : 1;
    u32 n = first + slots * step;
    size_t size = sizeof(*h) + n * sizeof(u32);
    if (slots > PRIVATE_SLOTS || __atomic_load_n(&privates_n, __ATOMIC_RELAXED) >= PRIVATE_MAX)
        return 0;
    struct dh_history *p = dh_pool_alloc(size);
    if (!p)
        return 0;
    p->n = n;
    p->first = (u8)first;
    p->step = (u8)step;
    if (!spread(p, h) || !number_take(p)) {
        dh_pool_free(p, size);
        return 0;
    }
    touch(p);
    dh_lock_take(&numbers);
    p->next = privates;
    privates = p->index;
    privates_n++;
    dh_lock_drop(&numbers);
    return p->index | DH_CELL_HISTORY;
}

bool dh_history_pressure(void)
{
    return __atomic_load_n(&made, __ATOMIC_RELAXED) > PRESSURE;
}

bool dh_history_want_collection(void)
{
    return __atomic_load_n(&made_since, __ATOMIC_RELAXED) > __atomic_load_n(&keep, __ATOMIC_RELAXED);
}

void dh_history_marking(bool on, u32 collection)
{
    __atomic_store_n(&marking, on ? collection : 0, __ATOMIC_SEQ_CST);
}

void dh_history_mark(u32 cell)
{
    touch((struct dh_history *)dh_history_get(cell));
}

void dh_history_sweep(void)
{
    u32 now = __atomic_load_n(&marking, __ATOMIC_RELAXED), live = 0;
    for (u32 k = 0; k < SHARDS; k++) {
        struct shard *s = &shards[k];
        dh_lock_take(&s->lock);
        for (u32 b = 0; b < s->buckets_n; b++) {
            for (u32 *link = &s->buckets[b]; *link;) {
                u32 i = *link;
                struct dh_history *h = *entry_of(i);
                if (h->mark == now) {
                    link = &h->next;
                    continue;
                }
                *link = h->next;
                s->count--;
                number_give(i);
                dh_pool_free(h, sizeof(*h) + h->n * sizeof(u32));
            }
        }
        live += s->count;
        dh_lock_drop(&s->lock);
    }
    dh_lock_take(&numbers);
    u32 list = privates;
    privates = 0;
    privates_n = 0;
    for (u32 i = list, next; i; i = next) {
        struct dh_history *h = *entry_of(i);
        next = h->next;
        if (h->mark == now) {
            h->next = privates;
            privates = i;
            privates_n++;
            continue;
        }
        *entry_of(i) = (struct dh_history *)((uptr)free_number << 1 | 1);
        free_number = i;
        dh_pool_free(h, sizeof(*h) + h->n * sizeof(u32));
    }
    dh_lock_drop(&numbers);
    __atomic_store_n(&made_since, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&keep, live > HISTORIES_FLOOR ? live : HISTORIES_FLOOR, __ATOMIC_RELAXED);
}

void dh_history_each_lock(dh_lock_fn *fn)
{
    for (u32 k = 0; k < SHARDS; k++)
        fn(&shards[k].lock);
    fn(&numbers);
}
