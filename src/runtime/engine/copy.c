/*
 * copy.c - forgets and copies history: new memory, moved memory (realloc, mremap, a moving collector).
 *
 * No thread should access the memory meanwhile; if one does, each word's record is kept or forgotten as a
 * whole, since cells are changed one at a time by whole stores. Shadow that was never written stays
 * untouched: zeros are not written over zeros, and large blocks of them are not even read.
 *
 * A cell says something about each of the four bytes of its word, so bytes that change their place within a
 * word (dst and src differ modulo 4) cannot take their cells along. If the bytes of neighbouring words have
 * the same history, as they nearly always do, the cell is still right; otherwise cells are taken apart into
 * bytes and reassembled (dh_step_byte, split.h).
 *
 * Cells that are changed in place (split ones, by_slot histories) belong to one word: their content is
 * copied. Overwritten ones leave their records behind for collect.c to find.
 */
#include <string.h>

#include "base/sys.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/pending.h"
#include "runtime/engine/recheck.h"
#include "runtime/engine/unsampled.h"
#include "runtime/init.h"
#include "runtime/shadow/cells.h"
#include "runtime/shadow/collect.h"
#include "runtime/shadow/region.h"
#include "runtime/shadow/touched.h"

enum {
    BLOCK = 16,       /* cells checked at once */
    PIECE = 256,      /* words of a range that are reassembled at a time */
    LARGE = 64 << 10, /* from this size on, first find out which pages were ever touched */
    KEEP = 1 << 20,   /* longer ranges are returned to the kernel */
    STACK_PIECE = 1 << 10,
    STACK_GAP = 16 << 10,
};

/* ---- Clear ---- */

/* Are the 64 cells from c on all zero? */
DH_INLINE bool none_in(const dh_cell_t *c)
{
    const dh_cells4 *x = (const dh_cells4 *)c;
    dh_cells4 any = x[0] | x[1] | x[2] | x[3];
    any |= x[4] | x[5] | x[6] | x[7];
    any |= x[8] | x[9] | x[10] | x[11];
    any |= x[12] | x[13] | x[14] | x[15];
    return dh_cells_all(any == (dh_cells4){0});
}

/* Zero the cells [first, last), writing only where there is something: pages never touched stay untouched. */
static void zero_cells(uptr first, uptr last)
{
    dh_cell_t *c = (dh_cell_t *)first;
    size_t n = (last - first) / 4, i = 0;
    for (; i + 64 <= n; i += 64)
        if (!none_in(c + i))
            dh_cells_fill(c + i, 64, DH_CELL_NONE);
    for (size_t end; i < n; i = end) {
        end = i + 4 <= n ? i + 4 : n;
        if (dh_cells_equal(c + i, end - i, DH_CELL_NONE) != end - i)
            dh_cells_fill(c + i, end - i, DH_CELL_NONE);
    }
}

/* Zero whole pages: return those that exist to the kernel, or keep them. A garbage collector clears the same
 * memory again and again, and returning a page and faulting it in again takes longer than writing it. Memory
 * that the program has locked (mlockall) may have to be kept. */
static void zero_pages(uptr from, uptr to, bool keep)
{
    u8 resident[KEEP / 4096];
    keep = keep && to - from <= KEEP && dh_sys_resident(from, to - from, resident);
    if (!keep && dh_sys_discard(from, to - from))
        return;
    for (uptr at = from, n; at < to; at += n) {
        n = to - at < KEEP ? to - at : KEEP;
        bool known = keep || dh_sys_resident(at, n, resident);
        for (uptr i = 0; i < n / 4096; i++)
            if (!known || (resident[i] & 1))
                zero_cells(at + i * 4096, at + i * 4096 + 4096);
    }
}

/* In plane n, which is mapped there. */
static void clear_run(uptr lo, uptr hi, u32 plane, bool keep)
{
    const uptr page = 4096;
    uptr first = dh_plane_nth(lo, plane), last = first + (hi - lo);
    uptr from = DH_ALIGN_UP(first, page), to = DH_ALIGN_DOWN(last, page);
    if (hi - lo < LARGE || to <= from) {
        zero_cells(first, last);
        return;
    }
    zero_cells(first, from);
    zero_pages(from, to, keep);
    zero_cells(to, last);
}

/* In plane n, where it is mapped. */
static void clear_plane(uptr lo, uptr hi, u32 plane, bool keep)
{
    while (lo < hi) {
        uptr end = DH_ALIGN_DOWN(lo, DH_REGION_SIZE) + DH_REGION_SIZE;
        bool has = dh_region_has_plane(lo, plane);
        const uptr run = plane == DH_NTH_WRITE ? DH_WRITE_RUN : DH_READ_RUN;
        while (end < hi && dh_region_has_plane(end, plane) == has && (!has || end % run))
            end += DH_REGION_SIZE;
        if (end > hi)
            end = hi;
        if (has)
            clear_run(lo, end, plane, keep);
        lo = end;
    }
}

/* Parts of words at the edges: other bytes of the word keep their history. */
static void clear_edge(uptr word, dh_mask_t mask, u32 plane)
{
    dh_cell_t *p = dh_shadow_nth(word, plane), old, cell;
    struct dh_bytes bytes;
    if (!dh_region_has_plane(word, plane))
        return;
    do {
        old = dh_cell_load(p);
        if (dh_cell_is_split(old) && !dh_split_read(p, old, &bytes))
            continue;
        if (!dh_step_keep(old, &bytes, dh_mask_minus(DH_MASK_FULL, mask), &cell))
            return;
        if (dh_cell_eq(cell, old)) /* an exchange would touch the page */
            return;
    } while (!dh_cell_cas_relaxed(p, old, cell));
}

static void clear_in(uptr lo, uptr hi, u32 plane, bool keep)
{
    if (lo & 3) {
        uptr next = DH_ALIGN_UP(lo, 4);
        clear_edge(next - 4, dh_mask_within(next - 4, lo, hi), plane);
        lo = next;
    }
    if (lo < hi && (hi & 3)) {
        uptr word = DH_ALIGN_DOWN(hi, 4);
        clear_edge(word, dh_mask_within(word, lo, hi), plane);
        hi = word;
    }
    if (lo < hi && (lo & 4)) {
        clear_edge(lo, DH_MASK_FULL, plane);
        lo += 4;
    }
    if (lo < hi && (hi & 4)) {
        hi -= 4;
        clear_edge(hi, DH_MASK_FULL, plane);
    }
    if (lo < hi)
        clear_plane(lo, hi, plane, keep);
}

static void clear_mapped(uptr lo, uptr hi, bool keep)
{
    u32 marks = dh_touched_any(lo, hi - lo);
    dh_recheck_forget_begin();
    for (u32 plane = 0; plane < DH_PLANES; plane++)
        if (dh_touched_plane(marks, plane))
            clear_in(lo, hi, plane, keep);
    dh_recheck_forget_end();
}

/* Clear a few whole words. False: there was nothing. */
static bool clear_words(uptr lo, size_t n)
{
    u32 marks = dh_touched_any(lo, n);
    bool any = false;
    for (u32 plane = 0; plane < DH_PLANES && !any; plane++)
        any = dh_touched_plane(marks, plane) && dh_region_has_plane(lo, plane) &&
              dh_region_has_plane(lo + n - 1, plane) &&
              dh_cells_equal(dh_shadow_nth(lo, plane), n / 4, DH_CELL_NONE) != n / 4;
    if (any)
        clear_mapped(lo, lo + n, true);
    return any;
}

/* Settle this thread's reads of memory that is being freed: others may get the memory without being
 * ordered. */
static void settle(struct dh_thread *t)
{
    t = t ? t : __dh_hot.self;
    if (t)
        dh_pending_settle(t);
}

static void clear(struct dh_thread *t, const volatile void *p, size_t n, bool keep)
{
    uptr lo = (uptr)p, hi = lo + n;
    settle(t);
    while (lo < hi && dh_touched_any(lo, hi - lo)) {
        uptr end = DH_ALIGN_DOWN(lo, DH_REGION_SIZE) + DH_REGION_SIZE;
        bool has = dh_region_has(lo);
        while (end < hi && dh_region_has(end) == has)
            end += DH_REGION_SIZE;
        if (end > hi)
            end = hi;
        if (has)
            clear_mapped(lo, end, keep);
        lo = end;
    }
    if ((uptr)p & 3)
        dh_unsampled_disturb((uptr)p, 1);
    if (hi & 3)
        dh_unsampled_disturb(hi - 1, 1);
}

/* While all threads are settled, everything recorded happened before for all of them, so it is not worth
 * forgetting. Large ranges of shadow are returned to the kernel anyway. */
static bool is_past(size_t n)
{
    return n < LARGE && __atomic_load_n(&dh_period_all_settled, __ATOMIC_RELAXED);
}

void dh_engine_clear(struct dh_thread *t, const volatile void *p, size_t n)
{
    if (is_past(n))
        return;
    clear(t, p, n, false);
}

void dh_engine_clear_object(struct dh_thread *t, uptr p, size_t n)
{
    dh_pending_settle(t); /* which would wait for this very range */
    u32 slot = dh_range_announce(p, p + n);
    clear(t, (void *)p, n, true);
    dh_range_retract(slot);
}

/* From the top down, until nothing was recorded for a while. */
void dh_engine_clear_stack(uptr lo, uptr top)
{
    for (uptr at = top, stop = top; at - lo > STACK_PIECE && stop - at < STACK_GAP; at -= STACK_PIECE)
        if (clear_words(at - STACK_PIECE, STACK_PIECE))
            stop = at - STACK_PIECE;
}

/* ---- Copy ---- */

/* The copy of one plane of a range. */
struct copy {
    struct dh_thread *t;
    u32 plane;       /* of all planes (abi.h) */
    bool marking;    /* a collection must not miss cells that move past its scan */
    bool down;       /* from the end, since the ranges overlap; upwards is faster where both work */
    dh_cell_t plain; /* a history known to be shared, not changed in place; none: not known yet */
    dh_cell_t even;  /* one known to say the same about all four bytes */
};

static void mark(const struct copy *c, dh_cell_t cell)
{
    if (DH_UNLIKELY(c->marking))
        dh_collect_mark_cell(cell);
}

/* The cell of byte k of a word whose cell this is. */
static dh_cell_t byte_of(dh_cell_t cell, u32 k)
{
    struct dh_bytes bytes;
    dh_cell_t byte;
    if (dh_cell_is_split(cell)) {
        dh_split_read_taken(cell, &bytes);
        return bytes.cell[k];
    }
    if (dh_step_byte(cell, k, &byte))
        return byte;
    dh_runtime_degrade("no memory for access histories");
    return DH_CELL_NONE;
}

/* The cell of a word whose bytes have these. */
static dh_cell_t compose(const struct copy *c, const dh_cell_t bytes[4])
{
    dh_id_t id = DH_ID_NONE;
    dh_mask_t mask = DH_MASK_NONE;
    bool one = true;
    for (u32 k = 0; k < 4; k++) {
        if (dh_cell_is_none(bytes[k]))
            continue;
        one = one && dh_cell_is_simple(bytes[k]) &&
              (dh_mask_is_none(mask) || dh_id_eq(dh_cell_id(bytes[k]), id));
        id = dh_cell_id(bytes[k]);
        mask = dh_mask_or(mask, dh_mask_byte(k));
    }
    if (one)
        return dh_mask_is_none(mask) ? DH_CELL_NONE : dh_cell_make(id, mask);
    if (dh_cell_eq(bytes[0], bytes[1]) && dh_cell_eq(bytes[0], bytes[2]) && dh_cell_eq(bytes[0], bytes[3]))
        return bytes[0];
    dh_cell_t split = dh_split_new(c->t, bytes);
    if (dh_cell_is_none(split))
        dh_runtime_degrade("no memory for access histories");
    return split;
}

/* The bytes of mask of one word: byte k gets the history of the byte at from + k. The others keep their
 * own. */
static void copy_bytes(const struct copy *c, uptr word, dh_mask_t mask, uptr from)
{
    dh_cell_t *p = dh_shadow_nth(word, c->plane);
    for (;;) {
        dh_cell_t old = dh_cell_load(p), bytes[4];
        for (u32 k = 0; k < 4; k++) {
            dh_cell_t cell = old;
            if (dh_mask_has(mask, k)) {
                cell = dh_cell_load(dh_shadow_nth(from + k, c->plane));
                mark(c, cell);
            }
            bytes[k] = byte_of(cell, dh_mask_has(mask, k) ? (u32)(from + k) & 3 : k);
        }
        dh_cell_t fresh = compose(c, bytes);
        if (dh_cell_eq(fresh, old)) /* an exchange would touch the page */
            return;
        if (dh_cell_cas(p, old, fresh))
            return;
        if (dh_cell_is_split(fresh))
            dh_split_free(c->t, fresh);
    }
}

/* What a cell becomes in another word. */
static dh_cell_t cell_elsewhere(struct copy *c, dh_cell_t cell)
{
    struct dh_bytes bytes;
    DH_ASSERT(dh_valid_cell(cell, c->plane == DH_NTH_WRITE ? DH_PLANE_WRITE : DH_PLANE_READ));
    mark(c, cell);
    if (dh_cell_is_simple(cell) || dh_cell_eq(cell, c->plain))
        return cell;
    if (dh_cell_is_split(cell)) {
        dh_split_read_taken(cell, &bytes);
        return compose(c, bytes.cell);
    }
    if (!dh_history_get(cell)->by_slot) {
        c->plain = cell;
        return cell;
    }
    dh_cell_t fresh;
    if (dh_step_keep(cell, &bytes, DH_MASK_FULL, &fresh))
        return fresh;
    dh_runtime_degrade("no memory for access histories");
    return DH_CELL_NONE;
}

DH_INLINE bool all_equal(const dh_cells4 x[4], dh_cell_t cell)
{
    const u32 v = dh_cell_raw(cell);
    const dh_cells4 want = {v, v, v, v};
    return dh_cells_all((x[0] == want) & (x[1] == want) & (x[2] == want) & (x[3] == want));
}

/* Sixteen cells. */
DH_INLINE void copy_block(struct copy *c, dh_cell_t *d, const dh_cell_t *s)
{
    const dh_cells4 *from = (const dh_cells4 *)s, x[4] = {from[0], from[1], from[2], from[3]};
    const dh_cells4 any = x[0] | x[1] | x[2] | x[3];
    const int sign_bits = 0x8888; /* the top bit of each lane's top byte */
    dh_cells4 *to = (dh_cells4 *)d;
    if (dh_cells_all(any == (dh_cells4){0})) {
        const dh_cells4 had[4] = {to[0], to[1], to[2], to[3]};
        if (all_equal(had, DH_CELL_NONE))
            return;
    } else if (DH_UNLIKELY(c->marking) || ((__builtin_ia32_pmovmskb128((dh_bytes16)any) & sign_bits) &&
                                           !(!dh_cell_is_none(c->plain) && all_equal(x, c->plain)))) {
        dh_cell_t cells[BLOCK];
        memcpy(cells, x, sizeof(cells));
        for (u32 i = 0; i < BLOCK; i++)
            dh_cell_store(&d[i], cell_elsewhere(c, cells[i]));
        return;
    }
    to[0] = x[0];
    to[1] = x[1];
    to[2] = x[2];
    to[3] = x[3];
}

DH_INLINE void copy_cell(struct copy *c, dh_cell_t *d, const dh_cell_t *s)
{
    dh_cell_t cell = cell_elsewhere(c, dh_cell_load(s));
    if (!dh_cell_is_none(cell) || !dh_cell_is_none(dh_cell_load(d)))
        dh_cell_store(d, cell);
}

/* Whole words, where dst and src are equal modulo 4. */
static void copy_cells(struct copy *c, uptr dst, uptr src, size_t words)
{
    dh_cell_t *d = dh_shadow_nth(dst, c->plane);
    const dh_cell_t *s = dh_shadow_nth(src, c->plane);
    size_t rest = words % BLOCK;
    if (c->down) {
        for (size_t i = words; i > words - rest; i--)
            copy_cell(c, &d[i - 1], &s[i - 1]);
        for (size_t i = words - rest; i > 0; i -= BLOCK)
            copy_block(c, &d[i - BLOCK], &s[i - BLOCK]);
        return;
    }
    for (size_t i = 0; i < words - rest; i += BLOCK)
        copy_block(c, &d[i], &s[i]);
    for (size_t i = words - rest; i < words; i++)
        copy_cell(c, &d[i], &s[i]);
}

/* Does the cell say the same about all four bytes, and may several words share it? */
static bool is_even(struct copy *c, dh_cell_t cell)
{
    if (dh_cell_is_simple(cell))
        return dh_cell_is_none(cell) || dh_mask_is_full(dh_cell_mask(cell));
    if (dh_cell_is_split(cell))
        return false;
    if (dh_cell_eq(cell, c->even))
        return true;
    const struct dh_history *h = dh_history_get(cell);
    bool even = !h->by_slot;
    for (u32 i = 0; i < h->n && even; i++)
        even = dh_mask_is_full(dh_cell_mask(h->cells[i]));
    if (even)
        c->even = cell;
    return even;
}

/* At most PIECE whole words, whose bytes come from the middle of others. Everything is read before anything
 * is written: the two may overlap. */
static void shift_piece(struct copy *c, uptr dst, uptr src, size_t words)
{
    dh_cell_t cells[PIECE + 1];
    const dh_cell_t *s = dh_shadow_nth(src, c->plane);
    dh_cell_t *d = dh_shadow_nth(dst, c->plane);
    u32 shift = (u32)src & 3;
    size_t got = 0;
    for (; got + 4 <= words + 1; got += 4)
        *(dh_cells4 *)(cells + got) = *(const dh_cells4 *)(s + got);
    for (; got <= words; got++)
        cells[got] = dh_cell_load(&s[got]);
    for (size_t i = 0; c->marking && i <= words; i++)
        mark(c, cells[i]);
    for (size_t i = 0, run; i < words; i += run) {
        run = is_even(c, cells[i]) ? dh_cells_equal(cells + i, words + 1 - i, cells[i]) - 1 : 0;
        if (run) {
            if (!dh_cell_is_none(cells[i]) || dh_cells_equal(d + i, run, DH_CELL_NONE) != run)
                dh_cells_fill(d + i, run, cells[i]);
            continue;
        }
        dh_cell_t bytes[4];
        for (u32 k = 0; k < 4; k++)
            bytes[k] = byte_of(cells[i + (shift + k) / 4], (shift + k) & 3);
        dh_cell_store(&d[i], compose(c, bytes));
        run = 1;
    }
}

static void shift_cells(struct copy *c, uptr dst, uptr src, size_t words)
{
    size_t done = 0;
    while (done < words) {
        size_t n = words - done < PIECE ? words - done : PIECE;
        size_t at = c->down ? words - done - n : done;
        shift_piece(c, dst + at * 4, src + at * 4, n);
        done += n;
    }
}

/* [src, src + n) and [dst, dst + n) have shadow, each within one region. The destination has every plane of
 * the source (dh_engine_copy has marked it so). */
static void copy_mapped(struct dh_thread *t, uptr dst, uptr src, size_t n, bool down)
{
    uptr first = dst & ~(uptr)3, last = (dst + n - 1) & ~(uptr)3; /* words */
    uptr lo = DH_ALIGN_UP(dst, 4), hi = DH_ALIGN_DOWN(dst + n, 4);
    bool begins = first < lo, ends = last >= hi && !(begins && last == first); /* with part of a word */
    u32 marks = dh_touched_any(src, n) | dh_touched_any(dst, n);
    for (u32 plane = 0; plane < DH_PLANES; plane++) {
        struct copy c = {.t = t, .plane = plane, .down = down, .marking = dh_collect_marking()};
        if (!dh_touched_plane(marks, plane) || !dh_region_has_plane(dst, plane))
            continue;
        if (!dh_region_has_plane(src, plane)) { /* a class that has accessed only the destination */
            clear_in(dst, dst + n, plane, true);
            continue;
        }
        uptr early = down ? last : first, late = down ? first : last;
        if (down ? ends : begins)
            copy_bytes(&c, early, dh_mask_within(early, dst, dst + n), src + (early - dst));
        if (lo < hi && ((dst ^ src) & 3))
            shift_cells(&c, lo, src + (lo - dst), (hi - lo) / 4);
        else if (lo < hi)
            copy_cells(&c, lo, src + (lo - dst), (hi - lo) / 4);
        if (down ? begins : ends)
            copy_bytes(&c, late, dh_mask_within(late, dst, dst + n), src + (late - dst));
    }
}

/* Within one region on both sides. */
static void copy_part(struct dh_thread *t, uptr dst, uptr src, size_t n, bool down)
{
    if (!dh_region_has(src) || (n >= LARGE && !dh_region_touched(src, n)))
        dh_engine_clear(t, (void *)dst, n);
    else if (dh_region_map((void *)dst, n)) {
        dh_recheck_forget_begin();
        copy_mapped(t, dst, src, n, down);
        dh_recheck_forget_end();
    } else
        dh_runtime_count(DH_COUNT_LOST_SHADOW);
}

/* The distance from `at` to the next region boundary; down: to the one below. */
static size_t to_border(uptr at, bool down)
{
    const uptr within = DH_REGION_SIZE - 1;
    return down ? ((at - 1) & within) + 1 : DH_REGION_SIZE - (at & within);
}

void dh_engine_copy(struct dh_thread *t, volatile void *to, const volatile void *from, size_t n)
{
    uptr dst = (uptr)to, src = (uptr)from;
    bool down = dst > src && dst < src + n;
    if (dst == src || n == 0 || is_past(n))
        return;
    settle(t);
    u32 marks = dh_touched_any(src, n);
    if (!marks) {
        clear(t, to, n, true);
        return;
    }
    if (!dh_touched_set(dst, n, marks))
        return;
    for (size_t done = 0, part; done < n; done += part) {
        uptr d = down ? dst + n - done : dst + done, s = down ? src + n - done : src + done;
        size_t other = to_border(s, down);
        part = to_border(d, down);
        part = part < other ? part : other;
        part = part < n - done ? part : n - done;
        copy_part(t, down ? d - part : d, down ? s - part : s, part, down);
    }
    dh_unsampled_disturb(dst, n);
}

void dh_engine_copy_object(struct dh_thread *t, uptr dst, uptr src, size_t n)
{
    dh_pending_settle(t);
    u32 slot = dh_range_announce(dst, dst + n);
    dh_engine_copy(t, (void *)dst, (void *)src, n);
    dh_range_retract(slot);
}
