/*
 * unsampled.c - see unsampled.h. The rules are those of PACER's non-sampling periods, on bytes and planes:
 *
 *   plain write   checked against everything; what was recorded of its bytes is dropped, ordered or reported
 *   plain read    checked against writes, which stay unless all threads are known to come after them. Where
 *                 no other write is recorded, reads that happened before it are dropped: whatever races with
 *                 one of them races with this one too
 *   atomic        checked against everything; drops nothing, since plain accesses race with atomic ones that
 *                 this one does not race with
 *
 * Order of work: cells are changed by compare-exchange. A read that is published while a write cell is being
 * emptied may still have found it non-empty, and so not have shown itself. Therefore, after emptying a cell a
 * thread checks the read planes again, and puts DH_CELL_READS back if there is anything. Ranges announce
 * themselves before they read the write cells, and publish before they retract the announcement; others wait
 * for them.
 *
 * Many words are done as range.c does them: announced, with plain stores, runs of equal cells at a time. A
 * single access that is published meanwhile sees the announcement and starts over.
 */
#include "runtime/engine/unsampled.h"

#include "base/pool.h"
#include "runtime/engine/recheck.h"
#include "runtime/engine/rules.h"
#include "runtime/init.h"
#include "runtime/shadow/collect.h"

enum { MANY = 16 }; /* from this many words on, announcing them pays */

/* ---- Blocks that are quiet ---- */

/*
 * Nothing is recorded between two periods, so a block of memory that was found to have no history has none
 * until the next one: range checks need not read its shadow again. For each block, as in touched.h: the pause
 * (dh_period_pause) and how often the whole block was checked in it; KNOWN: it is quiet. Written by any
 * thread.
 */
static u32 *pauses[DH_TOUCHED_LEAVES];
enum { TRIES = 16, KNOWN = TRIES - 1 };
#define LEAF ((size_t)1 << DH_TOUCHED_LEAF_SHIFT)
#define BLOCK ((uptr)1 << DH_TOUCHED_SHIFT)

static u32 *pause_of(uptr addr)
{
    uptr block = addr >> DH_TOUCHED_SHIFT;
    u32 *leaf =
        __atomic_load_n(&pauses[block >> DH_TOUCHED_LEAF_SHIFT & (DH_TOUCHED_LEAVES - 1)], __ATOMIC_ACQUIRE);
    return leaf ? &leaf[block & (LEAF - 1)] : NULL;
}

static void make_pause_of(uptr addr)
{
    u32 **at = &pauses[addr >> (DH_TOUCHED_SHIFT + DH_TOUCHED_LEAF_SHIFT) & (DH_TOUCHED_LEAVES - 1)];
    u32 *none = NULL, *fresh;
    if (__atomic_load_n(at, __ATOMIC_ACQUIRE) || !(fresh = dh_pool_alloc(LEAF * sizeof(*fresh))))
        return;
    if (!__atomic_compare_exchange_n(at, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        dh_pool_free(fresh, LEAF * sizeof(*fresh));
}

/* The end of the piece from `at`, at most to end, that one look at the marks covers: a block, or everything
 * without marks. *ret_quiet: it is already known to have no history. */
static uptr piece_end(uptr at, uptr end, bool *ret_quiet)
{
    uptr block = at >> DH_TOUCHED_SHIFT;
    const u32 *leaf = __atomic_load_n(&dh_touched[block >> DH_TOUCHED_LEAF_SHIFT & (DH_TOUCHED_LEAVES - 1)],
                                      __ATOMIC_ACQUIRE);
    uptr size = leaf ? BLOCK : BLOCK * LEAF, stop = DH_ALIGN_DOWN(at, size) + size;
    u32 marks = leaf ? __atomic_load_n(&leaf[block & (LEAF - 1)], __ATOMIC_RELAXED) : 0;
    u32 pause = __atomic_load_n(&dh_period_pause, __ATOMIC_RELAXED);
    const u32 *known = pause ? pause_of(at) : NULL;
    *ret_quiet = !(marks & DH_TOUCHED_WRITES) ||
                 (known && __atomic_load_n(known, __ATOMIC_RELAXED) == pause * TRIES + KNOWN);
    return stop < end ? stop : DH_ALIGN_UP(end, 4);
}

/* Part of the block had no history: is that so for all of it? Checked a few times in each pause, since as a
 * program goes through its memory, more and more of it is without history. */
static void look_at_block(uptr addr)
{
    u32 pause = __atomic_load_n(&dh_period_pause, __ATOMIC_RELAXED), *known = pause_of(addr);
    u32 tries = known ? __atomic_load_n(known, __ATOMIC_RELAXED) : 0;
    if (!known || !pause)
        return;
    if (tries / TRIES != pause)
        tries = pause * TRIES;
    if (tries % TRIES >= KNOWN - 1)
        return;
    const dh_cell_t *w = dh_shadow_nth(DH_ALIGN_DOWN(addr, BLOCK), DH_NTH_WRITE);
    bool quiet = dh_cells_equal(w, BLOCK / 4, DH_CELL_NONE) == BLOCK / 4;
    __atomic_store_n(known, quiet ? pause * TRIES + KNOWN : tries + 1, __ATOMIC_RELAXED);
}

bool dh_unsampled_is_quiet(uptr addr, size_t n)
{
    const uptr end = addr + n;
    if (__dh_hot.span == DH_SPAN_SETTLED)
        return true;
    for (uptr at = addr & ~(uptr)3, stop; at < end; at = stop) {
        bool quiet;
        stop = piece_end(at, end, &quiet);
        size_t words = (stop - at) / 4;
        if (quiet)
            continue;
        if (dh_cells_equal(dh_shadow_nth(at, DH_NTH_WRITE), words, DH_CELL_NONE) != words)
            return false;
        if (words >= MANY)
            look_at_block(at);
    }
    return true;
}

bool dh_unsampled_is_quiet_stride(uptr addr, uptr step, u64 count, u32 size)
{
    const uptr end = addr + (count - 1) * step + size;
    DH_ASSERT(count && size && size <= step);
    if (__dh_hot.span == DH_SPAN_SETTLED)
        return true;
    while (count > 0) {
        bool quiet;
        uptr stop = piece_end(addr, end, &quiet);
        u64 n = stop - addr >= size ? (stop - addr - size) / step + 1 : 0; /* how many lie in it */
        n = n < count ? n : count;
        if (n == 0) { /* an element reaches into the next block */
            quiet = dh_unsampled_is_quiet(addr, size);
            n = 1;
        } else if (!quiet) {
            uptr at = (uptr)dh_shadow_nth(addr, DH_NTH_WRITE), odd = addr & 3;
            u32 any = 0;
            for (u64 i = 0; i < n && !any; i++, at += step)
                for (uptr cell = at & ~(uptr)3; cell < at + odd + size; cell += 4)
                    any |= dh_cell_raw(dh_cell_load((const dh_cell_t *)cell));
            quiet = any == 0;
        }
        if (!quiet)
            return false;
        addr += n * step;
        count -= n;
    }
    return true;
}

static void disturb_block(uptr addr)
{
    u32 *known = pause_of(addr);
    if (known)
        __atomic_store_n(known, 0, __ATOMIC_RELAXED);
}

/* ---- Cells ---- */

/* The first non-empty one of n cells from the ith on; n: none. */
DH_INLINE size_t past_none(const dh_cell_t *c, size_t i, size_t n)
{
    return i + dh_cells_equal(c + i, n - i, DH_CELL_NONE);
}

/* Does the write cell only say that there are reads, or name a write that happened before for all threads? */
static bool is_over(dh_cell_t cell)
{
    if (dh_cell_is_none(cell) || !dh_cell_is_simple(cell))
        return false;
    dh_id_t id = dh_cell_id(cell);
    return dh_cell_is_reads(cell) || dh_period_is_past(dh_id_slot(id), dh_id_clock(id));
}

static bool races(const struct dh_access_now *a, const struct dh_content *c, dh_mask_t mask)
{
    if (DH_LIKELY(!dh_cell_is_split(c->cell)))
        return dh_step_races(a, c->cell, mask);
    bool any = false;
    for (; !dh_mask_is_none(mask) && !any; mask = dh_mask_rest(mask))
        any = dh_step_races(a, c->bytes.cell[dh_mask_first(mask)], DH_MASK_FULL);
    return any;
}

/* Report what it races with. The access gets an id only if it has to be reported. */
static void check(struct dh_access_now *a, const void *pc, uptr word, const struct dh_content *c,
                  dh_mask_t mask)
{
    if (DH_LIKELY(!races(a, c, mask)) || (dh_id_is_none(a->id) && !dh_step_identify(a, pc)))
        return;
    if (dh_cell_is_split(c->cell))
        dh_step_check_bytes(a, word, &c->bytes, mask);
    else
        dh_step_check(a, word, c->cell, mask);
}

/* What a cell holds of the bytes that are not in mask. False: no memory. */
static bool without(const struct dh_content *c, dh_mask_t mask, dh_cell_t *ret)
{
    const dh_mask_t rest = dh_mask_minus(DH_MASK_FULL, mask);
    *ret = DH_CELL_NONE;
    if (dh_mask_is_none(rest) || dh_cell_is_none(c->cell))
        return true;
    if (!dh_cell_is_simple(c->cell))
        return dh_step_keep(c->cell, &c->bytes, rest, ret);
    if (dh_mask_meets(dh_cell_mask(c->cell), rest))
        *ret = dh_cell_make(dh_cell_id(c->cell), dh_mask_and(dh_cell_mask(c->cell), rest));
    return true;
}

/* Replace c, which *p held, by `fresh`, and take ownership of what c names. An id that stays in a cell which
 * a collection has already scanned must be marked. */
static bool exchange(struct dh_thread *t, dh_cell_t *p, struct dh_content *c, dh_cell_t fresh)
{
    DH_ASSERT(t->in_rt && !dh_cell_eq(fresh, c->cell));
    if (!dh_cell_is_none(fresh) && DH_UNLIKELY(dh_collect_marking()))
        dh_collect_mark_cell(fresh);
    if (!dh_cell_cas(p, c->cell, fresh))
        return false;
    if (DH_UNLIKELY(dh_cell_is_split(c->cell))) {
        dh_split_read_taken(c->cell, &c->bytes); /* a byte may have changed since */
        dh_split_free(t, c->cell);
    }
    return true;
}

static bool all_before(struct dh_thread *t, const struct dh_content *c, dh_mask_t mask)
{
    if (DH_LIKELY(!dh_cell_is_split(c->cell)))
        return dh_step_ordered(t, c->cell);
    bool all = true;
    for (; !dh_mask_is_none(mask) && all; mask = dh_mask_rest(mask))
        all = dh_step_ordered(t, c->bytes.cell[dh_mask_first(mask)]);
    return all;
}

/* Drop what one class has read of these bytes: all of it if a writes, else what happened before. True: the
 * word still has something left. */
static bool drop_class(struct dh_access_now *a, const void *pc, uptr word, dh_mask_t mask, u32 class)
{
    bool write = (a->kind & DH_WRITE) != 0;
    dh_cell_t *r = dh_shadow_nth(word, class), fresh;
    for (;;) {
        struct dh_content c = dh_split_content(r);
        if (dh_cell_is_none(c.cell))
            return false;
        if ((!write && !all_before(a->t, &c, mask)) || !without(&c, mask, &fresh) ||
            dh_cell_eq(fresh, c.cell))
            return true;
        if (!exchange(a->t, r, &c, fresh))
            continue;
        if (write)
            check(a, pc, word, &c, mask);
        return !dh_cell_is_none(fresh);
    }
}

static bool drop_reads(struct dh_access_now *a, const void *pc, uptr word, dh_mask_t mask)
{
    bool left = false;
    for (u32 rest = dh_touched_mark(word) & DH_TOUCHED_READERS; rest; rest &= rest - 1)
        left |= drop_class(a, pc, word, mask, (u32)__builtin_ctz(rest));
    return left;
}

static bool any_read(uptr word)
{
    bool any = false;
    for (u32 rest = dh_touched_mark(word) & DH_TOUCHED_READERS; rest && !any; rest &= rest - 1)
        any = !dh_cell_is_none(dh_cell_load(dh_shadow_nth(word, (u32)__builtin_ctz(rest))));
    return any;
}

/* Check only. */
static void look(struct dh_access_now *a, const void *pc, uptr word, const struct dh_content *written,
                 dh_mask_t mask)
{
    check(a, pc, word, written, mask);
    if (!(a->kind & DH_WRITE))
        return;
    for (u32 rest = dh_touched_mark(word) & DH_TOUCHED_READERS; rest; rest &= rest - 1) {
        struct dh_content c = dh_split_content(dh_shadow_nth(word, (u32)__builtin_ctz(rest)));
        check(a, pc, word, &c, mask);
    }
}

/* Has everything that was read of n whole words happened before? */
static bool reads_before(struct dh_thread *t, uptr lo, size_t n)
{
    for (u32 rest = dh_touched_mark(lo) & DH_TOUCHED_READERS; rest; rest &= rest - 1) {
        const dh_cell_t *r = dh_shadow_nth(lo, (u32)__builtin_ctz(rest));
        for (size_t i = past_none(r, 0, n); i < n;) {
            dh_cell_t cell = dh_cell_load(&r[i]);
            if (dh_cell_is_split(cell) || !dh_step_ordered(t, cell))
                return false;
            i += dh_cells_equal(r + i, n - i, cell);
        }
    }
    return true;
}

/* A whole word where everything happened before: then it is enough to empty its write cell. Reads left in
 * their planes do no harm: a thread that finds one and is not ordered with it races with it. False: there is
 * more to do. */
static bool drop_word(struct dh_access_now *a, uptr word, dh_cell_t cell, bool announced)
{
    dh_cell_t *w = dh_shadow_nth(word, DH_NTH_WRITE);
    if (!dh_cell_is_simple(cell) || !dh_step_ordered(a->t, cell) || !reads_before(a->t, word, 1) ||
        !dh_cell_cas(w, cell, DH_CELL_NONE))
        return false;
    dh_rule(a->t, DH_COUNT_UNSAMPLED_DROPPED);
    if (DH_UNLIKELY(__atomic_load_n(&dh_ranges_active, __ATOMIC_ACQUIRE) != 0) && !announced)
        dh_range_wait(word, word + 4);
    if (DH_LIKELY(reads_before(a->t, word, 1)))
        return true;
    dh_cell_cas(w, DH_CELL_NONE, DH_CELL_READS);
    disturb_block(word);
    return false;
}

/* The bytes of mask of one word, whether or not it is announced. */
static void access_word(struct dh_access_now *a, const void *pc, uptr word, dh_mask_t mask, bool announced)
{
    dh_cell_t *w = dh_shadow_nth(word, DH_NTH_WRITE), fresh;
    DH_ASSERT(a->t->in_rt && a->t->unsampled && !dh_mask_is_none(mask) && !(word & 3));
    for (;;) {
        struct dh_content c = dh_split_content(w);
        bool over = is_over(c.cell);
        if (dh_cell_is_none(c.cell))
            return;
        if ((a->kind & DH_ATOMIC) || (!(a->kind & DH_WRITE) && !over)) {
            look(a, pc, word, &c, mask);
            return;
        }
        if (dh_mask_is_full(mask) && drop_word(a, word, c.cell, announced))
            return;
        bool reads = drop_reads(a, pc, word, mask);
        if (over)
            fresh = DH_CELL_NONE;
        else if (!without(&c, mask, &fresh))
            return;
        if (dh_cell_is_none(fresh) && reads)
            fresh = DH_CELL_READS;
        if (dh_cell_eq(fresh, c.cell))
            return;
        if (!exchange(a->t, w, &c, fresh))
            continue;
        if (!over)
            check(a, pc, word, &c, mask);
        if (!dh_cell_is_none(fresh))
            return;
        dh_rule(a->t, DH_COUNT_UNSAMPLED_DROPPED);
        if (DH_UNLIKELY(__atomic_load_n(&dh_ranges_active, __ATOMIC_ACQUIRE) != 0) && !announced)
            dh_range_wait(word, word + 4);
        if (DH_LIKELY(!any_read(word)))
            return;
        dh_cell_cas(w, DH_CELL_NONE, DH_CELL_READS);
        disturb_block(word);
    }
}

/* How many words from here on need no more than this check: reads of one write that happened before, but that
 * others may still race with. */
static size_t passes(const struct dh_access_now *a, const dh_cell_t *c, size_t n)
{
    dh_cell_t cell = dh_cell_load(c);
    if ((a->kind & DH_WRITE) || !dh_cell_is_simple(cell) || is_over(cell) || !dh_step_ordered(a->t, cell))
        return 0;
    return dh_cells_equal(c, n, cell);
}

/* drop_class for n whole words, announced. */
static bool drop_class_run(struct dh_access_now *a, const void *pc, uptr lo, size_t n, u32 class)
{
    bool write = (a->kind & DH_WRITE) != 0, left = false;
    dh_cell_t *r = dh_shadow_nth(lo, class);
    size_t len;
    for (size_t i = past_none(r, 0, n); i < n; i = past_none(r, i + len, n)) {
        struct dh_content c = {.cell = dh_cell_load(&r[i])};
        len = 1;
        if (dh_cell_is_split(c.cell)) {
            left |= drop_class(a, pc, lo + i * 4, DH_MASK_FULL, class);
            continue;
        }
        len = dh_cells_equal(r + i, n - i, c.cell);
        if (!write && !dh_step_ordered(a->t, c.cell)) {
            left = true;
            continue;
        }
        if (write)
            check(a, pc, lo + i * 4, &c, DH_MASK_FULL);
        dh_cells_fill(r + i, len, DH_CELL_NONE);
    }
    return left;
}

/* n whole words, announced, that hold `cell` in the write plane: a write, or DH_CELL_READS. */
static void drop_run(struct dh_access_now *a, const void *pc, uptr lo, size_t n, dh_cell_t cell)
{
    const struct dh_content c = {.cell = cell};
    dh_cell_t *w = dh_shadow_nth(lo, DH_NTH_WRITE);
    bool left = false;
    u32 readers = reads_before(a->t, lo, n) ? 0 : dh_touched_mark(lo) & DH_TOUCHED_READERS;
    for (u32 rest = readers; rest; rest &= rest - 1)
        left |= drop_class_run(a, pc, lo, n, (u32)__builtin_ctz(rest));
    if (!dh_cell_is_reads(cell))
        check(a, pc, lo, &c, DH_MASK_FULL);
    if (!left)
        dh_cells_fill(w, n, DH_CELL_NONE);
    for (size_t i = 0; left && i < n; i++)
        dh_cell_store(&w[i], any_read(lo + i * 4) ? DH_CELL_READS : DH_CELL_NONE);
    dh_rule(a->t, DH_COUNT_UNSAMPLED_DROPPED);
}

/* Whole words of one block, plainly accessed. */
static void access_words(struct dh_access_now *a, const void *pc, uptr lo, size_t n)
{
    const dh_cell_t *w = dh_shadow_nth(lo, DH_NTH_WRITE);
    u32 slot = dh_range_announce(lo, lo + n * 4);
    size_t len;
    for (size_t i = past_none(w, 0, n); i < n; i = past_none(w, i + len, n)) {
        dh_cell_t cell = dh_cell_load(&w[i]);
        len = passes(a, w + i, n - i);
        if (len)
            continue;
        bool drops = (a->kind & DH_WRITE) || is_over(cell);
        len = drops && !dh_cell_is_split(cell) ? dh_cells_equal(w + i, n - i, cell) : 1;
        if (drops && !dh_cell_is_split(cell))
            drop_run(a, pc, lo + i * 4, len, cell);
        else
            access_word(a, pc, lo + i * 4, DH_MASK_FULL, true);
    }
    dh_range_retract(slot);
}

void dh_unsampled_access(struct dh_access_now *a, const void *pc)
{
    const uptr end = a->addr + a->size;
    if (DH_UNLIKELY(dh_runtime_off) || dh_period_settled(a->t))
        return;
    dh_rule(a->t, DH_COUNT_UNSAMPLED);
    dh_recheck_forget_begin();
    for (uptr at = a->addr & ~(uptr)3, stop; at < end; at = stop) {
        bool quiet;
        stop = piece_end(at, end, &quiet);
        if (quiet)
            continue;
        const dh_cell_t *w = dh_shadow_nth(at, DH_NTH_WRITE);
        size_t n = (stop - at) / 4, len;
        for (size_t i = past_none(w, 0, n); i < n; i = past_none(w, i + len, n)) {
            uptr word = at + i * 4;
            dh_mask_t mask = dh_mask_within(word, a->addr, end);
            size_t whole = n - i - !dh_mask_is_full(dh_mask_within(stop - 4, a->addr, end));
            len = passes(a, w + i, n - i);
            if (len)
                continue;
            len = dh_mask_is_full(mask) && whole >= MANY && !(a->kind & DH_ATOMIC) ? whole : 1;
            if (len > 1)
                access_words(a, pc, word, len);
            else
                access_word(a, pc, word, mask, false);
        }
        if (n >= MANY)
            make_pause_of(at);
    }
    dh_recheck_forget_end();
}

/* What one class has read of n words. */
static void show_class(uptr lo, size_t n, u32 class)
{
    const dh_cell_t *r = dh_shadow_nth(lo, class);
    for (size_t i = past_none(r, 0, n); i < n; i = past_none(r, i + 1, n))
        dh_unsampled_show(lo + i * 4, 4);
}

u32 dh_unsampled_moves;

void dh_unsampled_disturb(uptr addr, size_t n)
{
    const uptr end = DH_ALIGN_UP(addr + n, 4);
    if (dh_period_on)
        __atomic_fetch_add(&dh_unsampled_moves, 1, __ATOMIC_RELAXED);
    for (uptr at = addr & ~(uptr)3, stop; dh_period_on && at < end; at = stop) {
        stop = DH_ALIGN_DOWN(at, BLOCK) + BLOCK;
        stop = stop < end ? stop : end;
        for (u32 rest = dh_touched_mark(at) & DH_TOUCHED_READERS; rest; rest &= rest - 1)
            show_class(at, (stop - at) / 4, (u32)__builtin_ctz(rest));
        disturb_block(at);
    }
}
