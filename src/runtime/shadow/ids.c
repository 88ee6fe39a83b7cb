/*
 * ids.c - see ids.h. A block is free, in use by a thread (which takes its ids), or retired.
 *
 * Pacing: a collection costs a scan of the resident shadow, so it runs when the ids taken since the last one
 * reach the larger of a fixed floor, the blocks that survived, and a fraction of the shadow cells; but at
 * most half of what is free, and at once when a thread finds none. If that collection frees none either, the
 * next one waits for as many more failures as the floor has blocks.
 */
#include "runtime/shadow/ids.h"

#include "base/pool.h"

#define BLOCKS (1u << (DH_ID_BITS - DH_ID_BLOCK_SHIFT))
#define WORDS (BLOCKS / 64)
enum {
    FLOOR_BLOCKS = (1 << 19) / DH_ID_BLOCK,
    CELLS_PER_ID = 16,
    LONG_RUN = 8, /* from this many on it is worth looking for consecutive blocks */
};

struct dh_id_block *dh_id_blocks;
struct dh_id_first *dh_id_firsts;
struct dh_id_rec *dh_id_chunks[1u << (DH_ID_BITS - DH_ID_CHUNK_SHIFT)];

/* One bit per block. Under `lock`, except `marked`, which is written atomically by the collector (and by
 * threads that build histories). Block 0 is never free: id 0 means "none". */
static struct dh_lock lock = DH_LOCK_INIT(DH_RANK_IDS);
static u64 taken[WORDS]; /* in use or retired */
static u64 owned[WORDS]; /* in use by a thread: never freed */
static u64 young[WORDS]; /* taken or retired since the collection began: not freed by it */
static u64 marked[WORDS];
static u32 cursor;            /* where the search for free blocks continues */
static u32 run_cursor;        /* where that for consecutive ones does, in words of the maps */
static u32 run_most = BLOCKS; /* no longer run exists */
static u32 live;              /* after the last collection */
static u32 high = 1;          /* blocks from here on were never taken */
static u32 since_last;        /* blocks taken since the last collection, and attempts that failed */
static bool given;            /* any block taken since then */
static u32 threshold = FLOOR_BLOCKS;

struct dh_access_rec dh_id_get(dh_id_t id)
{
    const struct dh_id_rec *r = dh_id_rec(id);
    return (struct dh_access_rec){
        .clock = dh_id_clock(id),
        .slot = dh_id_slot(id),
        .uid = dh_id_first(id)->uid,
        .ctx = dh_ctx_from((u32)r->ctx),
        .lockset = dh_lockset_from((u32)r->lockset),
        .kind = (u32)r->kind,
        .size = (u32)r->size,
    };
}

static bool get(const u64 *map, u32 b)
{
    return map[b / 64] >> (b % 64) & 1;
}

static void set(u64 *map, u32 b)
{
    map[b / 64] |= 1ull << (b % 64);
}

static void unset(u64 *map, u32 b)
{
    map[b / 64] &= ~(1ull << (b % 64));
}

bool dh_ids_is_taken(dh_id_t id)
{
    u32 b = dh_id_block_number(id);
    return dh_id_exists(id) && (__atomic_load_n(&taken[b / 64], __ATOMIC_RELAXED) >> (b % 64) & 1);
}

bool dh_ids_is_owned(dh_id_t id)
{
    u32 b = dh_id_block_number(id);
    return dh_ids_is_taken(id) && (__atomic_load_n(&owned[b / 64], __ATOMIC_RELAXED) >> (b % 64) & 1);
}

/* Make sure that every id of block b has memory for its record. */
static bool back(u32 b)
{
    DH_ASSERT(dh_lock_is_mine(&lock) && b < BLOCKS);
    struct dh_id_rec **chunk = &dh_id_chunks[(b * DH_ID_BLOCK) >> DH_ID_CHUNK_SHIFT];
    if (*chunk)
        return true;
    struct dh_id_rec *fresh = dh_pool_alloc(DH_ID_CHUNK * sizeof(*fresh));
    __atomic_store_n(chunk, fresh, __ATOMIC_RELEASE);
    return fresh != NULL;
}

_Static_assert(DH_ID_READS_RAW > 0 && DH_ID_READS_RAW < DH_ID_BLOCK, "an id of block 0, which nobody takes");

/* Block 0 is always in use. DH_ID_READS in it is a write of slot 0 at time 0: it happened before all. */
bool dh_ids_init(void)
{
    dh_id_blocks = dh_pool_alloc(BLOCKS * sizeof(*dh_id_blocks));
    dh_id_firsts = dh_pool_alloc(BLOCKS * sizeof(*dh_id_firsts));
    dh_lock_take(&lock);
    bool ok = dh_id_blocks != NULL && dh_id_firsts != NULL && back(0);
    set(taken, 0);
    set(owned, 0);
    dh_lock_drop(&lock);
    if (ok)
        *dh_id_rec(DH_ID_READS) = (struct dh_id_rec){.kind = DH_WRITE};
    return ok;
}

/* The first free block: recycled ones first, so that the table of records stays small. */
static u32 find_free(void)
{
    DH_ASSERT(dh_lock_is_mine(&lock));
    for (u32 w = cursor / 64; w * 64 < high; w++) {
        u64 free = ~taken[w];
        if (w == 0)
            free &= ~1ull;
        if (free) {
            u32 b = w * 64 + (u32)__builtin_ctzll(free);
            if (b < high)
                return b;
        }
    }
    return high < BLOCKS ? high : 0;
}

/* The first of `want` consecutive free blocks among 64; 64: none. */
static u32 run_in(u64 free, u32 want)
{
    for (u32 have = 1; have < want && free;) {
        u32 more = have < want - have ? have : want - have;
        free &= free >> more;
        have += more;
    }
    return free && want <= 64 ? (u32)__builtin_ctzll(free) : 64;
}

/* The first of up to *want consecutive free blocks. Between two collections the map is searched once for each
 * size, large ones first. Blocks never taken before are used only while those taken fill half of the map;
 * otherwise long epochs, each of which leaves a few of its blocks in use, would spread ids over ever more
 * memory: then a shorter run has to do, and *want becomes its length. 0: look for single blocks. */
static u32 find_run(u32 *want)
{
    DH_ASSERT(dh_lock_is_mine(&lock));
    if (*want > run_most)
        *want = run_most;
    for (; *want >= LONG_RUN; *want /= 2) {
        u32 n = 0;
        for (u32 w = run_cursor; (w + 1) * 64 <= high; w++) {
            u64 used = taken[w] | (w == 0);
            u32 low = used ? (u32)__builtin_ctzll(used) : 64, in = run_in(~used, *want);
            if (n + low >= *want || in < 64) {
                run_cursor = w;
                return n + low >= *want ? w * 64 - n : w * 64 + in;
            }
            n = used ? (u32)__builtin_clzll(used) : n + 64;
        }
        u32 used_up = live + since_last;
        if (high < 2 * used_up + 2 * FLOOR_BLOCKS && BLOCKS - high >= *want) {
            run_cursor = high / 64;
            return high;
        }
        run_cursor = 0;
        run_most = *want / 2;
    }
    return 0;
}

dh_id_t dh_ids_take(u32 want, u32 *ret_count)
{
    dh_lock_take(&lock);
    u32 run = want >= LONG_RUN ? find_run(&want) : 0;
    u32 first = run ? run : find_free(), n = 0;
    while (first && n < want && first + n < BLOCKS && !get(taken, first + n) && back(first + n)) {
        u32 b = first + n++;
        DH_ASSERT(!get(owned, b));
        set(taken, b);
        set(owned, b);
        set(young, b);
        if (b >= high)
            high = b + 1;
    }
    if (n > 0) {
        if (!run) /* a run leaves the blocks it skipped to others */
            cursor = first + n - 1;
        given = true;
        since_last += n;
    } else if (given && since_last < threshold) {
        since_last = threshold;
    } else {
        since_last++;
    }
    dh_lock_drop(&lock);
    *ret_count = n * DH_ID_BLOCK;
    return n ? dh_id_from(first * DH_ID_BLOCK) : DH_ID_NONE;
}

void dh_ids_retire(dh_id_t first_id, u32 count)
{
    const u32 first = dh_id_block_number(first_id);
    DH_ASSERT(dh_id_begins_block(first_id) && count % DH_ID_BLOCK == 0);
    dh_lock_take(&lock);
    for (u32 i = 0; i < count / DH_ID_BLOCK; i++) {
        /* Not `owned`: a thread that was about to take new blocks when the process forked had already retired
         * these, and the child retires them again. They are still taken: the thread was in the runtime. */
        DH_ASSERT(get(taken, first + i));
        unset(owned, first + i);
        /* Some of its ids may have gone into cells that a collection under way has already scanned. */
        set(young, first + i);
    }
    dh_lock_drop(&lock);
}

bool dh_ids_want_collection(void)
{
    return __atomic_load_n(&since_last, __ATOMIC_RELAXED) >= __atomic_load_n(&threshold, __ATOMIC_RELAXED);
}

dh_id_t dh_ids_end(void)
{
    dh_lock_take(&lock);
    u32 end = high;
    dh_lock_drop(&lock);
    return dh_id_from(end * DH_ID_BLOCK);
}

void dh_ids_collect_begin(void)
{
    dh_lock_take(&lock);
    for (u32 w = 0; w * 64 < high; w++) {
        young[w] = 0;
        marked[w] = 0;
    }
    dh_lock_drop(&lock);
}

void dh_ids_mark(dh_id_t id)
{
    u32 b = dh_id_block_number(id);
    DH_ASSERT(dh_ids_is_taken(id)); /* what a cell names is not free */
    if (!(__atomic_load_n(&marked[b / 64], __ATOMIC_RELAXED) >> (b % 64) & 1))
        __atomic_fetch_or(&marked[b / 64], 1ull << (b % 64), __ATOMIC_RELAXED);
}

void dh_ids_sweep(u64 shadow_cells)
{
    dh_lock_take(&lock);
    live = 0;
    for (u32 w = 0; w * 64 < high; w++) {
        DH_ASSERT(!(owned[w] & ~taken[w]));
        taken[w] &= owned[w] | young[w] | marked[w];
        live += (u32)__builtin_popcountll(taken[w]);
    }
    cursor = run_cursor = 0;
    run_most = BLOCKS;
    since_last = 0;
    given = false;
    u64 next = FLOOR_BLOCKS;
    if (live / 2 > next)
        next = live / 2;
    if (shadow_cells / CELLS_PER_ID / DH_ID_BLOCK > next)
        next = shadow_cells / CELLS_PER_ID / DH_ID_BLOCK;
    u32 most = (BLOCKS - live) / 2;
    if (next > most)
        next = most > FLOOR_BLOCKS ? most : FLOOR_BLOCKS;
    __atomic_store_n(&threshold, (u32)next, __ATOMIC_RELAXED);
    dh_lock_drop(&lock);
}

void dh_ids_each_lock(dh_lock_fn *fn)
{
    fn(&lock);
}
