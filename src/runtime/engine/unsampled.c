/*
 * unsampled.c - see unsampled.h. The rules are those of PACER's non-sampling periods (section 3 of the paper,
 * "discarding metadata"), on bytes and planes:
 *
 *   plain write   checked against everything; what was recorded of its bytes is dropped, ordered or reported
 *   plain read    checked against writes, which stay. Where no write is recorded, reads that happened before
 *                 it are dropped: whatever races with one of them races with this one too
 *   atomic        checked against everything; drops nothing, since plain accesses race with atomic ones that
 *                 this one does not race with
 *
 * Order of work: cells are changed by compare-exchange. A read that is published while a write cell is
 * emptied may have found it not empty, and so not have shown itself. Whoever has emptied a cell therefore
 * looks at the read planes again, and puts DH_CELL_READS back where something is. Ranges announce themselves
 * before they read the write cells, and publish by the end of their announcement; they are waited for.
 */
#include "runtime/engine/unsampled.h"

#include "runtime/engine/rules.h"
#include "runtime/init.h"
#include "runtime/shadow/collect.h"

struct content {
    u32 cell;
    struct dh_bytes bytes; /* if it is split */
};

static struct content read_cell(const u32 *p)
{
    struct content c;
    do {
        c.cell = __atomic_load_n(p, __ATOMIC_RELAXED);
    } while (DH_UNLIKELY(dh_cell_is_split(c.cell)) && !dh_split_read(p, c.cell, &c.bytes));
    return c;
}

static bool races(const struct dh_access_now *a, const struct content *c, u32 mask)
{
    if (DH_LIKELY(!dh_cell_is_split(c->cell)))
        return dh_step_races(a, c->cell, mask);
    bool any = false;
    for (; mask && !any; mask &= mask - 1)
        any = dh_step_races(a, c->bytes.cell[__builtin_ctz(mask)], DH_MASK_FULL);
    return any;
}

/* Report what it races with. The access has a number only if it must be named. */
static void check(struct dh_access_now *a, const void *pc, uptr word, const struct content *c, u32 mask)
{
    if (DH_LIKELY(!races(a, c, mask)) || (!a->id && !dh_step_identify(a, pc)))
        return;
    if (dh_cell_is_split(c->cell))
        dh_step_check_bytes(a, word, &c->bytes, mask);
    else
        dh_step_check(a, word, c->cell, mask);
}

/* What a cell holds of the bytes that are not in mask. False: no memory. */
static bool without(const struct content *c, u32 mask, u32 *ret)
{
    const u32 rest = ~mask & DH_MASK_FULL;
    *ret = 0;
    if (rest == 0 || c->cell == 0)
        return true;
    if (!dh_cell_is_simple(c->cell))
        return dh_step_keep(c->cell, &c->bytes, rest, ret);
    if (dh_cell_mask(c->cell) & rest)
        *ret = dh_cell_make(dh_cell_id(c->cell), dh_cell_mask(c->cell) & rest);
    return true;
}

/* Put `fresh` in place of c, which *p held, and take over what c names. An id that goes on in a cell which a
 * collection has already looked at must be marked. */
static bool exchange(struct dh_thread *t, u32 *p, struct content *c, u32 fresh)
{
    u32 old = c->cell;
    DH_ASSERT(t->in_rt && fresh != old);
    if (fresh && DH_UNLIKELY(dh_collect_marking()))
        dh_collect_mark_cell(fresh);
    if (!__atomic_compare_exchange_n(p, &old, fresh, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        return false;
    if (DH_UNLIKELY(dh_cell_is_split(old))) {
        dh_split_read_taken(old, &c->bytes); /* a byte may have changed since */
        dh_split_free(t, old);
    }
    return true;
}

static bool all_before(struct dh_thread *t, const struct content *c, u32 mask)
{
    if (DH_LIKELY(!dh_cell_is_split(c->cell)))
        return dh_step_ordered(t, c->cell);
    bool all = true;
    for (; mask && all; mask &= mask - 1)
        all = dh_step_ordered(t, c->bytes.cell[__builtin_ctz(mask)]);
    return all;
}

/* Drop what one class has read of these bytes: all of it if a writes, else what happened before. True:
 * something is left of the word. */
static bool drop_class(struct dh_access_now *a, const void *pc, uptr word, u32 mask, u32 class)
{
    bool write = (a->kind & DH_WRITE) != 0;
    u32 *r = dh_shadow_nth(word, class), fresh;
    for (;;) {
        struct content c = read_cell(r);
        if (c.cell == 0)
            return false;
        if ((!write && !all_before(a->t, &c, mask)) || !without(&c, mask, &fresh) || fresh == c.cell)
            return true;
        if (!exchange(a->t, r, &c, fresh))
            continue;
        if (write)
            check(a, pc, word, &c, mask);
        return fresh != 0;
    }
}

static bool drop_reads(struct dh_access_now *a, const void *pc, uptr word, u32 mask)
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
        any = __atomic_load_n(dh_shadow_nth(word, (u32)__builtin_ctz(rest)), __ATOMIC_RELAXED) != 0;
    return any;
}

/* Check only. */
static void look(struct dh_access_now *a, const void *pc, uptr word, const struct content *written, u32 mask)
{
    check(a, pc, word, written, mask);
    if (!(a->kind & DH_WRITE))
        return;
    for (u32 rest = dh_touched_mark(word) & DH_TOUCHED_READERS; rest; rest &= rest - 1) {
        struct content c = read_cell(dh_shadow_nth(word, (u32)__builtin_ctz(rest)));
        check(a, pc, word, &c, mask);
    }
}

/* The bytes of mask of one word. */
static void access_word(struct dh_access_now *a, const void *pc, uptr word, u32 mask)
{
    u32 *w = dh_shadow_nth(word, DH_NTH_WRITE), fresh;
    DH_ASSERT(a->t->in_rt && a->t->unsampled && mask && mask <= DH_MASK_FULL && !(word & 3));
    for (;;) {
        struct content c = read_cell(w);
        bool reads_only = c.cell == DH_CELL_READS;
        if (c.cell == 0)
            return;
        if ((a->kind & DH_ATOMIC) || (!(a->kind & DH_WRITE) && !reads_only)) {
            look(a, pc, word, &c, mask);
            return;
        }
        bool reads = drop_reads(a, pc, word, mask);
        if (reads_only)
            fresh = 0;
        else if (!without(&c, mask, &fresh))
            return;
        if (!fresh && reads)
            fresh = DH_CELL_READS;
        if (fresh == c.cell)
            return;
        if (!exchange(a->t, w, &c, fresh))
            continue;
        if (!reads_only)
            check(a, pc, word, &c, mask);
        if (fresh)
            return;
        dh_rule(a->t, DH_COUNT_UNSAMPLED_DROPPED);
        if (DH_UNLIKELY(__atomic_load_n(&dh_ranges_active, __ATOMIC_ACQUIRE) != 0))
            dh_range_wait(word, word + 4);
        if (DH_LIKELY(!any_read(word)))
            return;
        __atomic_compare_exchange_n(w, &fresh, DH_CELL_READS, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    }
}

/* The bytes of [addr, end) that are in the word. */
static u32 mask_within(uptr word, uptr addr, uptr end)
{
    u32 mask = DH_MASK_FULL;
    if (word < addr)
        mask &= DH_MASK_FULL << (addr - word);
    if (word + 4 > end)
        mask &= DH_MASK_FULL >> (word + 4 - end);
    return mask;
}

/* How many words from here on need no more than this look: reads after one write that has happened before. */
static size_t passes(const struct dh_access_now *a, const u32 *c, size_t n)
{
    u32 cell = __atomic_load_n(c, __ATOMIC_RELAXED);
    if ((a->kind & DH_WRITE) || cell == DH_CELL_READS || !dh_cell_is_simple(cell) ||
        !dh_step_ordered(a->t, cell))
        return 0;
    return dh_cells_equal(c, n, cell);
}

void dh_unsampled_access(struct dh_access_now *a, const void *pc)
{
    const uptr block = (uptr)1 << DH_TOUCHED_SHIFT, end = a->addr + a->size;
    dh_rule(a->t, DH_COUNT_UNSAMPLED);
    for (uptr at = a->addr & ~(uptr)3, stop; at < end; at = stop) {
        stop = DH_ALIGN_DOWN(at, block) + block;
        if (stop > end)
            stop = DH_ALIGN_UP(end, 4);
        if (!(dh_touched_mark(at) & DH_TOUCHED_WRITES))
            continue;
        const u32 *c = dh_shadow_nth(at, DH_NTH_WRITE);
        size_t n = (stop - at) / 4, i = dh_cells_equal(c, n, 0);
        while (i < n) {
            size_t known = passes(a, c + i, n - i);
            if (!known) {
                uptr word = at + i * 4;
                access_word(a, pc, word, mask_within(word, a->addr, end));
                known = 1;
            }
            i += known;
            i += dh_cells_equal(c + i, n - i, 0);
        }
    }
}

bool dh_unsampled_is_quiet(uptr addr, size_t n)
{
    const uptr block = (uptr)1 << DH_TOUCHED_SHIFT, end = addr + n;
    bool quiet = true;
    for (uptr at = addr & ~(uptr)3, stop; at < end && quiet; at = stop) {
        stop = DH_ALIGN_DOWN(at, block) + block;
        if (stop > end)
            stop = DH_ALIGN_UP(end, 4);
        size_t words = (stop - at) / 4;
        quiet = !(dh_touched_mark(at) & DH_TOUCHED_WRITES) ||
                dh_cells_equal(dh_shadow_nth(at, DH_NTH_WRITE), words, 0) == words;
    }
    return quiet;
}
