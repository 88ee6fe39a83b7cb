/*
 * split.c - see split.h.
 *
 * The use count is odd while a record is in use. Spare records are kept by threads, a few each, and in a list
 * for all; an entry of that list holds the next record's number where a byte's cell would be.
 */
#include "runtime/split.h"

#include "base/pool.h"
#include "runtime/thread.h"

#define CHUNK DH_SPLIT_CHUNK
#define CHUNK_SHIFT DH_SPLIT_CHUNK_SHIFT
#define CHUNKS DH_SPLIT_CHUNKS
enum { FLOOR = 256 << 10, BATCH = DH_SPARE_SPLITS / 2 };

struct dh_split_chunk *dh_split_chunks[CHUNKS]; /* set once, under `lock` */
static struct dh_lock lock = DH_LOCK_INIT(DH_RANK_IDS);
static u32 numbers = 1; /* under `lock`; 0 is not used */
static u32 spare;       /* under `lock`: first of the list */
static u32 in_use;      /* atomic; taken from the list or new, less those given back */
static u32 limit = FLOOR;
/* The collection under way, 0 if none. Written by the collector between two grace periods. */
static u32 marking;

static u32 *mark_of(u32 number)
{
    return &dh_split_chunks[number >> CHUNK_SHIFT]->mark[number & (CHUNK - 1)];
}

/* Under `lock`; 0 if there is none. */
static u32 take_one(void)
{
    u32 number = spare;
    if (number) {
        spare = (u32)dh_split_record(number)[0];
        return number;
    }
    if (numbers == CHUNKS * CHUNK)
        return 0;
    struct dh_split_chunk **c = &dh_split_chunks[numbers >> CHUNK_SHIFT];
    if (!*c)
        __atomic_store_n(c, dh_pool_alloc(sizeof(**c)), __ATOMIC_RELEASE);
    return *c ? numbers++ : 0;
}

static void refill(struct dh_thread *t)
{
    dh_lock_take(&lock);
    u32 number;
    while (t->splits_n < BATCH && (number = take_one()))
        t->splits[t->splits_n++] = number;
    dh_lock_drop(&lock);
    u32 used = __atomic_add_fetch(&in_use, t->splits_n, __ATOMIC_RELAXED);
    if (used > __atomic_load_n(&limit, __ATOMIC_RELAXED))
        t->want_collect = true;
}

static void spill(struct dh_thread *t, u32 n)
{
    dh_lock_take(&lock);
    for (u32 i = 0; i < n; i++) {
        u32 number = t->splits[--t->splits_n];
        u64 *b = dh_split_record(number);
        b[0] = (b[0] & ~(u64)~0u) | spare;
        spare = number;
    }
    dh_lock_drop(&lock);
    __atomic_sub_fetch(&in_use, n, __ATOMIC_RELAXED);
}

u32 dh_split_new(struct dh_thread *t, const u32 bytes[4])
{
    if (t->splits_n == 0)
        refill(t);
    if (t->splits_n == 0)
        return 0;
    u32 number = t->splits[--t->splits_n];
    u64 *b = dh_split_record(number), use = (b[0] >> 32) + 1;
    t->splits_made++;
    __atomic_store_n(mark_of(number), __atomic_load_n(&marking, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    for (u32 k = 0; k < 4; k++)
        __atomic_store_n(&b[k], use << 32 | bytes[k], __ATOMIC_RELEASE);
    return number | DH_CELL_SPLIT;
}

void dh_split_free(struct dh_thread *t, u32 cell)
{
    u32 number = dh_cell_split_index(cell);
    u64 *b = dh_split_record(number), use = (b[0] >> 32) + 1;
    for (u32 k = 0; k < 4; k++)
        __atomic_store_n(&b[k], use << 32, __ATOMIC_RELEASE);
    if (t->splits_n == DH_SPARE_SPLITS)
        spill(t, BATCH);
    t->splits[t->splits_n++] = number;
}

bool dh_split_want_collection(void)
{
    return __atomic_load_n(&in_use, __ATOMIC_RELAXED) > __atomic_load_n(&limit, __ATOMIC_RELAXED);
}

void dh_split_give_back(struct dh_thread *t)
{
    spill(t, t->splits_n);
}

void dh_split_marking(bool on, u32 collection)
{
    __atomic_store_n(&marking, on ? collection : 0, __ATOMIC_SEQ_CST);
}

void dh_split_mark(u32 cell)
{
    __atomic_store_n(mark_of(dh_cell_split_index(cell)), marking, __ATOMIC_RELAXED);
}

void dh_split_sweep(struct dh_thread *t)
{
    dh_lock_take(&lock);
    u32 end = numbers;
    dh_lock_drop(&lock);
    for (u32 number = 1; number < end; number++) {
        bool used = __atomic_load_n(&dh_split_record(number)[3], __ATOMIC_ACQUIRE) >> 32 & 1;
        if (used && __atomic_load_n(mark_of(number), __ATOMIC_RELAXED) != marking)
            dh_split_free(t, number | DH_CELL_SPLIT);
    }
    u32 live = __atomic_load_n(&in_use, __ATOMIC_RELAXED);
    __atomic_store_n(&limit, live > FLOOR / 2 ? live * 2 : FLOOR, __ATOMIC_RELAXED);
}

void dh_split_each_lock(dh_lock_fn *fn)
{
    fn(&lock);
}
