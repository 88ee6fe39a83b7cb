/*
 * history.c - see history.h.
 */
#include "runtime/shadow/history.h"

#include <string.h>

#include "base/pool.h"
#include "event/access.h"
#include "runtime/shadow/ids.h"
#include "runtime/shadow/valid.h"

#define SHARDS 64u
#define UNIT sizeof(struct dh_history_unit)
#define CHUNK DH_HISTORY_CHUNK
enum {
    LINE = 64,
    PAGE_UNITS = 4096 / sizeof(struct dh_history_unit),
    CLASSES = DH_HISTORY_CHUNK_SHIFT + 1,
    PRESSURE = 16 << 10,
    HISTORIES_FLOOR = 64 << 10,
    PRIVATE_MAX = (16 << 20) / UNIT, /* units of all by_slot histories */
    PRIVATE_SLOTS = 255
};
_Static_assert(SHARDS == 1u << (64 - 58), "intern takes the upper six bits of the hash");
_Static_assert(1u << (CLASSES - 1) == CHUNK, "the largest class is a whole chunk");
_Static_assert((LINE - sizeof(struct dh_history)) / sizeof(dh_cell_t) <= UINT8_MAX,
               "`first` of a by_slot history");

/* A hash table with linear probing: hash << 32 | number, 0 for empty. A lookup thus reads one cache line of
 * this and, with few exceptions, only the history it is looking for. */
struct shard {
    struct dh_lock lock;
    u32 places_n; /* power of two, or 0 */
    u32 count;    /* below places_n: one is free */
    u64 *places;
    u64 made, found; /* for dh_history_counts, which reads them without the lock */
} __attribute__((aligned(64)));

static struct shard shards[SHARDS];
struct dh_history_unit *dh_history_chunks[DH_HISTORY_CHUNKS];
static struct dh_lock numbers = DH_LOCK_INIT(DH_RANK_IDS);
/* Units from here on were never used; under `numbers`. 0 is not a valid number. */
static u32 units_used = PAGE_UNITS;
/* Histories of 1, 2, 4 and so on units; under `numbers`. */
static struct {
    u32 free;      /* head of a list linked by link_of() */
    u32 next, end; /* units reserved for this class and never used */
} classes[CLASSES];
/* The collection under way, 0 if none. Written by the collector between two grace periods. */
static u32 marking;
static u32 privates;   /* head of the list of by_slot histories, linked by link_of(); under `numbers` */
static u32 privates_n; /* units they occupy; under `numbers` */
/* Created in total, and since the last collection; atomic. */
static u32 made, made_since;
static u32 keep = HISTORIES_FLOOR; /* collect after this many; written by the collector */

void dh_history_init(void)
{
    for (u32 i = 0; i < SHARDS; i++)
        shards[i].lock.rank = DH_RANK_HISTORY;
}

static struct dh_history *object(u32 number)
{
    return (struct dh_history *)dh_history_get(dh_cell_of_history(number));
}

/* Link to the next in a list: free histories have no entries, and by_slot ones none at this position. */
static u32 *link_of(struct dh_history *h)
{
    return (u32 *)&h->cells[0];
}

/* CLASSES: too large for any class. */
static u32 class_of(u32 n)
{
    u32 class = 0;
    while (class < CLASSES && (UNIT << class) < sizeof(struct dh_history) + n * sizeof(dh_cell_t))
        class ++;
    return class;
}

/* A page of units for histories of this class, or a single history if that is larger; aligned to its size, so
 * that it is in one chunk. */
static bool refill(u32 class)
{
    DH_ASSERT(dh_lock_is_mine(&numbers));
    u32 n = 1u << class > PAGE_UNITS ? 1u << class : PAGE_UNITS;
    u32 at = (u32)DH_ALIGN_UP(units_used, n);
    if (at >= DH_HISTORY_CHUNKS * CHUNK)
        return false;
    struct dh_history_unit **chunk = &dh_history_chunks[at >> DH_HISTORY_CHUNK_SHIFT];
    if (!*chunk)
        __atomic_store_n(chunk, dh_pool_alloc(CHUNK * UNIT), __ATOMIC_RELEASE);
    if (!*chunk)
        return false;
    classes[class].next = at;
    classes[class].end = units_used = at + n;
    return true;
}

/* The number of memory for n entries; 0 if none. It is not cleared. */
static u32 take(u32 n)
{
    u32 class = class_of(n), number = 0;
    if (class == CLASSES)
        return 0;
    dh_lock_take(&numbers);
    __typeof__(classes[0]) *c = &classes[class];
    if (c->free) {
        number = c->free;
        c->free = *link_of(object(number));
    } else if (c->next < c->end || refill(class)) {
        number = c->next;
        c->next += 1u << class;
    }
    dh_lock_drop(&numbers);
    return number;
}

/* Under `numbers`. */
static void give(u32 number)
{
    struct dh_history *h = object(number);
    DH_ASSERT(dh_lock_is_mine(&numbers) && h->n && class_of(h->n) < CLASSES);
    u32 *list = &classes[class_of(h->n)].free;
    *link_of(h) = *list;
    *list = number;
}

static void put(struct shard *s, u64 place)
{
    DH_ASSERT(dh_lock_is_mine(&s->lock) && (u32)place);
    u32 i = (u32)(place >> 32) & (s->places_n - 1);
    while (s->places[i])
        i = (i + 1) & (s->places_n - 1);
    s->places[i] = place;
}

static void grow(struct shard *s)
{
    u32 n = s->places_n;
    u64 *old = s->places, *fresh = dh_pool_alloc((n ? n * 2 : 32) * sizeof(u64));
    if (!fresh)
        return; /* a fuller table is only slower */
    s->places = fresh;
    s->places_n = n ? n * 2 : 32;
    for (u32 i = 0; i < n; i++)
        if (old[i])
            put(s, old[i]);
    dh_pool_free(old, n * sizeof(u64));
}

static void touch(struct dh_history *h)
{
    u32 now = __atomic_load_n(&marking, __ATOMIC_RELAXED);
    if (!now || __atomic_load_n(&h->mark, __ATOMIC_RELAXED) == now)
        return;
    __atomic_store_n(&h->mark, (u8)now, __ATOMIC_RELAXED);
    for (u32 i = h->first; i < h->n; i += h->step)
        if (!dh_cell_is_none(h->cells[i])) /* by_slot: not every slot has one */
            dh_ids_mark(dh_cell_id(h->cells[i]));
}

/* The history of these entries in its shard; 0: there is none yet, and no memory or no number for one. */
static u32 find_or_make(struct shard *s, u32 hash, const dh_cell_t *entries, u32 n, u32 age)
{
    DH_ASSERT(dh_lock_is_mine(&s->lock));
    if (s->count >= s->places_n / 4 * 3)
        grow(s);
    if (s->count + 1 >= s->places_n)
        return 0;
    u32 mask = s->places_n - 1, at = hash & mask;
    for (; s->places[at]; at = (at + 1) & mask) {
        if (s->places[at] >> 32 != hash)
            continue;
        u32 number = (u32)s->places[at];
        struct dh_history *h = object(number);
        if (h->n == n && memcmp(h->cells, entries, n * sizeof(*entries)) == 0) {
            touch(h);
            s->found++;
            return number;
        }
    }
    u32 number = take(n);
    if (!number)
        return 0;
    struct dh_history *h = object(number);
    *h = (struct dh_history){.n = n, .step = 1, .age = (u16)(age < UINT16_MAX ? age : UINT16_MAX)};
    memcpy(h->cells, entries, n * sizeof(*entries));
    touch(h);
    __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&made_since, 1, __ATOMIC_RELAXED);
    s->places[at] = (u64)hash << 32 | number;
    s->count++;
    s->made++;
    return number;
}

static u32 intern(const dh_cell_t *entries, u32 n, u32 age)
{
    u64 hash = n;
    for (u32 i = 0; i < n; i++)
        hash = dh_hash64(hash ^ dh_cell_raw(entries[i]));
    struct shard *s = &shards[hash >> 58];
    dh_lock_take(&s->lock);
    u32 number = find_or_make(s, (u32)hash, entries, n, age);
    dh_lock_drop(&s->lock);
    return number;
}

bool dh_history_cell(dh_cell_t *e, u32 n, u32 age, dh_cell_t *ret_cell)
{
    for (u32 i = 1; i < n; i++) { /* short, nearly sorted: insertion */
        dh_cell_t x = e[i];
        u32 j = i;
        for (; j > 0 && dh_id_less(dh_cell_id(x), dh_cell_id(e[j - 1])); j--)
            e[j] = e[j - 1];
        e[j] = x;
    }
    u32 m = 0;
    for (u32 i = 0; i < n; i++) {
        if (m > 0 && dh_id_eq(dh_cell_id(e[m - 1]), dh_cell_id(e[i])))
            e[m - 1] = dh_cell_join(e[m - 1], e[i]);
        else
            e[m++] = e[i];
    }
    DH_ASSERT(dh_valid_entries(e, m));
    if (m <= 1) {
        *ret_cell = m ? e[0] : DH_CELL_NONE;
        return true;
    }
    u32 number = intern(e, m, age);
    *ret_cell = dh_cell_of_history(number);
    return number != 0;
}

/* Spread h's entries over p's slots; false if two are from one thread (for different bytes, or atomic and
 * plain). */
static bool spread(struct dh_history *p, const struct dh_history *h)
{
    u32 atomics = 0;
    DH_ASSERT(!h->by_slot);
    for (u32 i = 0; i < h->n; i++) {
        dh_id_t id = dh_cell_id(h->cells[i]);
        dh_cell_t *entry = dh_history_entry(p, dh_id_slot(id));
        if (!entry || !dh_cell_is_none(*entry))
            return false;
        *entry = h->cells[i];
        atomics += (dh_id_kind(id) & DH_ATOMIC) != 0;
    }
    p->by_slot = !atomics ? DH_BY_SLOT_PLAIN : atomics < h->n ? DH_BY_SLOT_MIXED : DH_BY_SLOT_ATOMIC;
    return true;
}

static u32 class_of_entry(const struct dh_history *h, u32 i)
{
    return dh_slot_raw(dh_id_slot(dh_cell_id(h->cells[i]))) % DH_READ_CLASSES;
}

/* Plain accesses of one class of threads, as in a read plane? */
static bool is_of_class(const struct dh_history *h)
{
    for (u32 i = 0; i < h->n; i++)
        if (class_of_entry(h, i) != class_of_entry(h, 0) || (dh_id_kind(dh_cell_id(h->cells[i])) & DH_ATOMIC))
            return false;
    return true;
}

dh_cell_t dh_history_private(const struct dh_history *h)
{
    const bool one = is_of_class(h);
    u32 slots = one ? 3 : 7; /* with room for threads that may still come */
    for (u32 i = 0; i < h->n; i++)
        while (slots <= dh_slot_raw(dh_id_slot(dh_cell_id(h->cells[i]))) / (one ? DH_READ_CLASSES : 1))
            slots = slots * 2 + 1;
    /* The first entry is on the cache line after the header's, the others 64 bytes apart, or less if that
     * takes too much memory. */
    u32 first = (LINE - sizeof(*h)) / sizeof(dh_cell_t);
    u32 step = one ? 4 : slots <= 15 ? 16 : slots <= 63 ? 4 : 1;
    u32 n = first + slots * step;
    if (slots > PRIVATE_SLOTS || __atomic_load_n(&privates_n, __ATOMIC_RELAXED) >= PRIVATE_MAX)
        return DH_CELL_NONE;
    u32 number = take(n);
    if (!number)
        return DH_CELL_NONE;
    struct dh_history *p = object(number);
    memset(p, 0, sizeof(*p) + n * sizeof(dh_cell_t));
    p->n = n;
    p->first = (u8)first;
    p->step = (u8)step;
    p->class = (u8)(one ? 1 + class_of_entry(h, 0) : 0);
    bool fits = spread(p, h);
    if (fits)
        touch(p);
    dh_lock_take(&numbers);
    if (fits) {
        *link_of(p) = privates;
        privates = number;
        privates_n += 1u << class_of(n);
    } else {
        give(number);
    }
    dh_lock_drop(&numbers);
    return fits ? dh_cell_of_history(number) : DH_CELL_NONE;
}

void dh_history_counts(u64 *ret_made, u64 *ret_found)
{
    *ret_made = *ret_found = 0;
    for (u32 i = 0; i < SHARDS; i++) {
        *ret_made += __atomic_load_n(&shards[i].made, __ATOMIC_RELAXED);
        *ret_found += __atomic_load_n(&shards[i].found, __ATOMIC_RELAXED);
    }
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
    /* A mark is a byte: everything that survives a collection has that one's mark, so only consecutive ones
     * must differ. */
    __atomic_store_n(&marking, on ? 1 + collection % 255 : 0, __ATOMIC_SEQ_CST);
}

void dh_history_mark(dh_cell_t cell)
{
    touch((struct dh_history *)dh_history_get(cell));
}

/* Take every entry out of the table and reinsert the live ones, in order, beginning after a free place: so
 * the entries between an entry's hash and its place are already where they will stay. */
static void sweep_shard(struct shard *s, u32 now)
{
    u32 mask = s->places_n - 1, at = 0;
    while (s->places[at])
        at++;
    for (u32 left = mask; left > 0; left--) {
        at = (at + 1) & mask;
        u64 place = s->places[at];
        if (!place)
            continue;
        s->places[at] = 0;
        if (object((u32)place)->mark == now) {
            put(s, place);
            continue;
        }
        s->count--;
        dh_lock_take(&numbers);
        give((u32)place);
        dh_lock_drop(&numbers);
    }
}

void dh_history_sweep(void)
{
    u32 now = __atomic_load_n(&marking, __ATOMIC_RELAXED), live = 0;
    for (u32 k = 0; k < SHARDS; k++) {
        struct shard *s = &shards[k];
        dh_lock_take(&s->lock);
        if (s->count)
            sweep_shard(s, now);
        live += s->count;
        dh_lock_drop(&s->lock);
    }
    dh_lock_take(&numbers);
    u32 list = privates;
    privates = 0;
    privates_n = 0;
    for (u32 i = list, next; i; i = next) {
        struct dh_history *h = object(i);
        next = *link_of(h);
        if (h->mark != now) {
            give(i);
            continue;
        }
        *link_of(h) = privates;
        privates = i;
        privates_n += 1u << class_of(h->n);
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
