/*
 * split.c - see split.h.
 *
 * The use count is odd while a record is in use. Each thread keeps a few spare records; the others are in a
 * shared bitmap. A thread without spare records takes those of one bitmap word: they are adjacent, so words
 * of the program that are split one after another share cache lines. And spare records are found and returned
 * without touching the records themselves, which are no longer in any cache by then.
 */
#include "runtime/shadow/split.h"

#include "base/pool.h"
#include "runtime/threads/thread.h"

#define CHUNK_SHIFT DH_SPLIT_CHUNK_SHIFT
#define CHUNKS DH_SPLIT_CHUNKS
enum {
    FLOOR = 256 << 10,
    WORDS = DH_SPLIT_CHUNK / 64, /* of bits in a chunk */
    ENOUGH = 16,                 /* to avoid the lock for a while, where words have few bits */
    SPILL = DH_SPARE_SPLITS / 2,
    AHEAD = 4 /* two cache lines: how far ahead of its use a record is prefetched */
};
_Static_assert(WORDS == 64, "a bit in `some` for each");

struct dh_split_chunk *dh_split_chunks[CHUNKS]; /* set once, in order, under `lock` */
static struct dh_lock lock = DH_LOCK_INIT(DH_RANK_IDS);
static u32 chunks;       /* under `lock` */
static u64 some[CHUNKS]; /* under `lock`: a bit for each word of a chunk that has spare records */
static u32 at;           /* under `lock`: the bitmap word where the last search ended */
static u32 in_use;       /* atomic; taken from the bitmap, less those returned */
static u32 limit = FLOOR;
/* A collection is under way. Written by the collector between two grace periods. */
static bool marking;

/* ---- The shared bitmap; under `lock`. A word is identified by its records' number / 64 ---- */

static bool new_chunk(void)
{
    struct dh_split_chunk *c = chunks < CHUNKS ? dh_pool_alloc(sizeof(*c)) : NULL;
    if (!c)
        return false;
    for (u32 w = 0; w < WORDS; w++)
        c->spare[w] = ~(u64)0;
    some[chunks] = ~(u64)0;
    __atomic_store_n(&dh_split_chunks[chunks], c, __ATOMIC_RELEASE);
    at = chunks++ * WORDS;
    return true;
}

/* Set `at` to a word with spare records. False: there is none, and no memory. */
static bool find(void)
{
    u32 c = at / WORDS;
    u64 words = chunks ? some[c] & ~(u64)0 << at % WORDS : 0;
    for (u32 n = 0; n < chunks && !words; n++) {
        c = c + 1 < chunks ? c + 1 : 0;
        words = some[c];
    }
    if (!words)
        return new_chunk();
    at = c * WORDS + (u32)__builtin_ctzll(words);
    return true;
}

/* Those of word `at`. The lowest comes last and is used first. */
static void take(struct dh_thread *t)
{
    DH_ASSERT(dh_lock_is_mine(&lock));
    u64 *spare = &dh_split_chunks[at / WORDS]->spare[at % WORDS], rest = *spare;
    while (rest && t->splits.n < DH_SPARE_SPLITS) {
        u32 k = 63 - (u32)__builtin_clzll(rest);
        t->splits.number[t->splits.n++] = at * 64 + k;
        rest &= ~((u64)1 << k);
    }
    __atomic_store_n(spare, rest, __ATOMIC_RELAXED);
    if (!rest)
        some[at / WORDS] &= ~((u64)1 << at % WORDS);
}

static void give(u32 word, u64 records)
{
    u64 *spare = &dh_split_chunks[word / WORDS]->spare[word % WORDS];
    DH_ASSERT(dh_lock_is_mine(&lock) && !(*spare & records)); /* it was taken */
    __atomic_store_n(spare, *spare | records, __ATOMIC_RELAXED);
    some[word / WORDS] |= (u64)1 << word % WORDS;
}

/* ---- What a thread has ---- */

static DH_NOINLINE void refill(struct dh_thread *t)
{
    dh_lock_take(&lock);
    while (t->splits.n < ENOUGH && find())
        take(t);
    dh_lock_drop(&lock);
    u32 used = __atomic_add_fetch(&in_use, t->splits.n, __ATOMIC_RELAXED);
    if (used > __atomic_load_n(&limit, __ATOMIC_RELAXED))
        t->want_collect = true;
}

static DH_NOINLINE void spill(struct dh_thread *t, u32 n)
{
    dh_lock_take(&lock);
    for (u32 i = 0; i < n; i++) {
        u32 number = t->splits.number[--t->splits.n];
        give(number / 64, (u64)1 << number % 64);
    }
    dh_lock_drop(&lock);
    __atomic_sub_fetch(&in_use, n, __ATOMIC_RELAXED);
}

static u64 *mark_of(u32 number)
{
    return &dh_split_chunks[number >> CHUNK_SHIFT]->mark[number / 64 % WORDS];
}

static void mark(u32 number)
{
    u64 *m = mark_of(number), bit = (u64)1 << number % 64;
    if (!(__atomic_load_n(m, __ATOMIC_RELAXED) & bit))
        __atomic_fetch_or(m, bit, __ATOMIC_RELAXED);
}

dh_cell_t dh_split_new(struct dh_thread *t, const dh_cell_t bytes[4])
{
    if (DH_UNLIKELY(t->splits.n == 0))
        refill(t);
    if (t->splits.n == 0)
        return DH_CELL_NONE;
    u32 number = t->splits.number[--t->splits.n];
    if (t->splits.n >= AHEAD)
        __builtin_prefetch(dh_split_record(t->splits.number[t->splits.n - AHEAD]), 1);
    u64 *b = dh_split_record(number), use = (b[0] >> 32) + 1;
    DH_ASSERT((use & 1) && dh_valid_byte(bytes[0]) && dh_valid_byte(bytes[1]) && dh_valid_byte(bytes[2]) &&
              dh_valid_byte(bytes[3]));
    t->mixtures++;
    if (DH_UNLIKELY(__atomic_load_n(&marking, __ATOMIC_RELAXED)))
        mark(number);
    for (u32 k = 0; k < 4; k++)
        __atomic_store_n(&b[k], use << 32 | dh_cell_raw(bytes[k]), __ATOMIC_RELEASE);
    return dh_cell_of_split(number);
}

/* End its use. */
static void put_down(u32 number)
{
    u64 *b = dh_split_record(number), use = (b[0] >> 32) + 1;
    DH_ASSERT(!(use & 1)); /* it was in use */
    for (u32 k = 0; k < 4; k++)
        __atomic_store_n(&b[k], use << 32, __ATOMIC_RELEASE);
}

void dh_split_free(struct dh_thread *t, dh_cell_t cell)
{
    u32 number = dh_cell_split_index(cell);
    DH_ASSERT(dh_cell_is_split(cell) && t->splits.n <= DH_SPARE_SPLITS);
    put_down(number);
    if (t->splits.n == DH_SPARE_SPLITS)
        spill(t, SPILL);
    t->splits.number[t->splits.n++] = number;
}

bool dh_split_want_collection(void)
{
    return __atomic_load_n(&in_use, __ATOMIC_RELAXED) > __atomic_load_n(&limit, __ATOMIC_RELAXED);
}

void dh_split_give_back(struct dh_thread *t)
{
    spill(t, t->splits.n);
}

/* ---- Collection ---- */

/* NULL: there are no more. */
static struct dh_split_chunk *chunk(u32 c)
{
    return c < CHUNKS ? __atomic_load_n(&dh_split_chunks[c], __ATOMIC_ACQUIRE) : NULL;
}

void dh_split_marking(bool on)
{
    struct dh_split_chunk *c;
    for (u32 i = 0; on && (c = chunk(i)); i++)
        for (u32 w = 0; w < WORDS; w++)
            __atomic_store_n(&c->mark[w], 0, __ATOMIC_RELAXED);
    __atomic_store_n(&marking, on, __ATOMIC_SEQ_CST);
}

void dh_split_mark(dh_cell_t cell)
{
    mark(dh_cell_split_index(cell));
}

/* Free the records of a bitmap word that are in use but in no cell. No other thread can reach them. */
static void sweep_word(struct dh_split_chunk *c, u32 word)
{
    u64 *marks = &c->mark[word % WORDS], dead = 0;
    u64 rest = ~(__atomic_load_n(&c->spare[word % WORDS], __ATOMIC_RELAXED) |
                 __atomic_load_n(marks, __ATOMIC_RELAXED));
    for (; rest; rest &= rest - 1) {
        u32 number = word * 64 + (u32)__builtin_ctzll(rest);
        u64 bit = rest & -rest;
        bool used = __atomic_load_n(&dh_split_record(number)[3], __ATOMIC_ACQUIRE) >> 32 & 1;
        /* It may have come into use since we loaded the marks. */
        if (used && !(__atomic_load_n(marks, __ATOMIC_RELAXED) & bit)) {
            put_down(number);
            dead |= bit;
        }
    }
    if (!dead)
        return;
    dh_lock_take(&lock);
    give(word, dead);
    dh_lock_drop(&lock);
    __atomic_sub_fetch(&in_use, (u32)__builtin_popcountll(dead), __ATOMIC_RELAXED);
}

void dh_split_sweep(void)
{
    struct dh_split_chunk *c;
    for (u32 i = 0; (c = chunk(i)); i++)
        for (u32 w = 0; w < WORDS; w++)
            sweep_word(c, i * WORDS + w);
    u32 live = __atomic_load_n(&in_use, __ATOMIC_RELAXED);
    __atomic_store_n(&limit, live > FLOOR / 2 ? live * 2 : FLOOR, __ATOMIC_RELAXED);
}

void dh_split_each_lock(dh_lock_fn *fn)
{
    fn(&lock);
}
