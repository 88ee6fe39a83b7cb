/*
 * stride.c - accesses to many places at the same distance from each other: a column, a field of all elements
 * of an array, every other point of a grid.
 *
 * One call before a loop replaces the checks of its iterations. It touches exactly what they would: the gaps
 * between the elements may belong to other threads. The cells are changed with plain stores while the
 * elements are announced (range.c); announcements with the same step exclude each other only if they share
 * bytes, so threads working on different columns of a matrix do not wait for each other. The new value of a
 * cell is computed once for each run of equal ones.
 */
#include "runtime/abi/same_epoch.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/exception.h"
#include "runtime/engine/pending.h"
#include "runtime/engine/recheck.h"
#include "runtime/engine/unsampled.h"
#include "runtime/init.h"
#include "runtime/shadow/exclusive.h"
#include "runtime/shadow/region.h"
#include "runtime/shadow/touched.h"
#include "runtime/sink/tap.h"

enum {
    AHEAD = 8, /* elements */
    FAR = 256, /* a step too long for the hardware prefetcher */
};

struct stride {
    uptr next, step;
    u64 left; /* elements, from `next` on */
    u32 size; /* of one */
    const void *pc;
};

/* What a unit (one cell, or two equal ones) held in both planes, and what its cells become. */
struct turn {
    dh_pair_t own, other;
    dh_cell_t new_own, new_other; /* new_own none: nothing is known yet */
};

/* Is its new value determined by the cell's value alone, and for later units as well? */
static bool is_lasting(dh_pair_t unit, bool two)
{
    dh_cell_t cell = dh_pair_lo(unit);
    return (!two || dh_pair_is_even(unit)) && !dh_cell_is_split(cell) &&
           (!dh_cell_is_history(cell) || !dh_history_get(cell)->by_slot);
}

/* Work out what units like this one become. False: there is more to do than change them. */
static DH_NOINLINE bool learn(const struct dh_access_now *a, dh_pair_t own, dh_pair_t other, bool two,
                              struct turn *ret)
{
    const dh_cell_t from = dh_pair_lo(own), beside = dh_pair_lo(other);
    bool write = a->kind == DH_WRITE;
    if (!is_lasting(own, two) || !is_lasting(other, two) || !dh_step_ordered(a->t, beside) ||
        (write && !dh_step_ordered(a->t, from)))
        return false;
    dh_cell_t cell = dh_step_cell(a, from, DH_MASK_FULL, write ? DH_PLANE_WRITE : DH_PLANE_READ);
    if (!write)
        dh_step_set_mine(a->t, cell, DH_MASK_FULL);
    *ret = (struct turn){own, other, cell,
                         write ? dh_step_cell(a, beside, DH_MASK_FULL, DH_PLANE_READ) : beside};
    return true;
}

/* How far a unit is from the ids of this epoch. */
DH_INLINE u32 distance(dh_pair_t unit, u32 base, bool two)
{
    u32 far = dh_cell_distance(dh_pair_lo(unit), base);
    return two ? far | dh_cell_distance(dh_pair_hi(unit), base) : far;
}

/* Was this unit accessed in this epoch? */
DH_INLINE bool is_hit(const struct dh_access_now *a, dh_pair_t unit, bool two)
{
    return distance(unit, __dh_hot.base, two) < __dh_hot.span ||
           (dh_step_is_mine(a->t, dh_pair_lo(unit)) && (!two || dh_pair_is_even(unit)));
}

/* The rare cases: split cells, races. */
static DH_NOINLINE void by_words(struct dh_access_now *a, uptr element, uptr addr, u32 unit)
{
    a->addr = element;
    for (uptr word = addr; word < addr + unit; word += 4)
        if (!dh_engine_same_epoch(a->t, word, 4, a->kind))
            dh_engine_word_announced(a, word, DH_MASK_FULL);
}

/* For a write: do the reads of a unit by other classes require nothing? */
static bool is_read_before(const struct dh_access_now *a, uptr addr, u32 unit)
{
    bool before = true;
    for (uptr word = addr; word < addr + unit && before; word += 4)
        for (u32 rest = dh_engine_readers(a->t, word); rest && before; rest &= rest - 1) {
            dh_cell_t cell = dh_cell_load(dh_shadow_nth(word, (u32)__builtin_ctz(rest)));
            before = !dh_cell_is_split(cell) && dh_step_ordered(a->t, cell);
        }
    return before;
}

/* n elements, announced. */
DH_INLINE void change(struct dh_access_now *a, const struct stride *s, u64 n, u32 unit)
{
    bool write = a->kind == DH_WRITE, far = s->step >= FAR, two = unit == 8;
    enum dh_plane own_plane = write ? DH_PLANE_WRITE : DH_PLANE_READ;
    enum dh_plane other_plane = write ? DH_PLANE_READ : DH_PLANE_WRITE;
    struct turn turn = {0};
    for (uptr element = s->next; n > 0; n--, element += s->step) {
        if (far) {
            __builtin_prefetch(dh_shadow(element + AHEAD * s->step, own_plane), 1);
            __builtin_prefetch(dh_shadow(element + AHEAD * s->step, other_plane), 1);
        }
        for (uptr addr = element; addr < element + s->size; addr += unit) {
            dh_cell_t *p = dh_shadow(addr, own_plane), *q = dh_shadow(addr, other_plane);
            dh_pair_t own = dh_pair_load_unit(p, two), other = dh_pair_load_unit(q, two);
            if (is_hit(a, own, two))
                continue;
            bool known =
                dh_pair_eq(own, turn.own) && dh_pair_eq(other, turn.other) && !dh_cell_is_none(turn.new_own);
            if ((!known && !learn(a, own, other, two, &turn)) || (write && !is_read_before(a, addr, unit))) {
                by_words(a, element, addr, unit);
                turn.new_own = DH_CELL_NONE;
                continue;
            }
            dh_pair_store_unit(p, turn.new_own, two);
            if (write)
                dh_pair_store_unit(q, turn.new_other, two);
            else if (dh_pair_is_none(other) && dh_period_on) /* dh_unsampled_show */
                dh_pair_store_unit(q, DH_CELL_READS, two);
        }
    }
}

/* n elements, if all of them are in blocks exclusive to this thread (exclusive.h). */
DH_INLINE bool change_alone(const struct dh_access_now *a, const struct stride *s, u64 n, u32 unit)
{
    const uptr block = (uptr)1 << DH_TOUCHED_SHIFT, end = s->next + (n - 1) * s->step + s->size;
    const u32 class = a->t->class;
    const dh_cell_t cell = dh_cell_make(a->id, DH_MASK_FULL);
    if (!dh_pending_all_own(a->t))
        return false;
    bool mine = dh_exclusive_is(dh_exclusive_begin(class, s->next), class);
    for (uptr at = DH_ALIGN_DOWN(s->next, block) + block; at < end && mine; at += block)
        mine = dh_exclusive_is(dh_touched_mark(at), class);
    for (uptr element = s->next; mine && n > 0; n--, element += s->step)
        for (uptr addr = element; addr < element + s->size; addr += unit) {
            if (a->kind == DH_WRITE)
                dh_pair_store_unit(dh_shadow(addr, DH_PLANE_WRITE), cell, unit == 8);
            dh_pair_store_unit(dh_shadow(addr, DH_PLANE_READ), cell, unit == 8);
        }
    dh_exclusive_end(class);
    return mine;
}

/* The same for the unit at a shadow address. */
DH_INLINE u32 distance_at(uptr shadow, u32 base, bool two)
{
    return distance(dh_pair_load_unit((const dh_cell_t *)shadow, two), base, two);
}

/* How many elements, from the next one on, were accessed in this epoch? Four at a time. */
DH_INLINE u64 count_hits(const struct dh_access_now *a, const struct stride *s, u64 n, u32 unit)
{
    const uptr step = s->step;
    const u32 base = __dh_hot.base, span = __dh_hot.span;
    uptr at = (uptr)dh_shadow(s->next, a->kind == DH_WRITE ? DH_PLANE_WRITE : DH_PLANE_READ);
    u64 known = 0;
    if (s->size != unit)
        return 0;
    for (; known + 4 <= n; known += 4, at += 4 * step) {
        u32 far = distance_at(at, base, unit == 8) | distance_at(at + step, base, unit == 8) |
                  distance_at(at + 2 * step, base, unit == 8) | distance_at(at + 3 * step, base, unit == 8);
        if (far >= span)
            break;
    }
    return known;
}

/* False: there is no shadow for some of them. */
static bool note_touched(const struct dh_access_now *a, const struct stride *s, u64 n)
{
    u32 mark = a->kind == DH_WRITE ? a->t->marks_write : a->t->marks_read;
    if (s->step <= 1u << DH_TOUCHED_SHIFT)
        return dh_touched_note(s->next, (n - 1) * s->step + s->size, mark);
    bool all = true;
    for (u64 i = 0; i < n && all; i++)
        all = dh_touched_note(s->next + i * s->step, s->size, mark);
    return all;
}

/* n elements that consist of whole units. False: no id available. */
DH_INLINE bool in_units(struct dh_access_now *a, struct stride *s, u64 n, u32 unit)
{
    u64 known = count_hits(a, s, n, unit);
    if (known)
        dh_recheck_known(a->t, a->kind, s->next, s->size, s->step, known);
    s->next += known * s->step;
    s->left -= known;
    n -= known;
    if (n > 0) {
        if (dh_id_is_none(a->id) && !dh_step_identify(a, s->pc))
            return false;
        bool noted = note_touched(a, s, n);
        struct dh_recheck *r = noted ? dh_recheck_range(a->t, a->kind, s->next, s->size, s->step, n) : NULL;
        if (noted && !change_alone(a, s, n, unit)) {
            u32 slot = dh_range_announce_stride(s->next, s->step, n, s->size);
            change(a, s, n, unit);
            dh_range_retract(slot);
        }
        dh_recheck_end(r);
    }
    s->next += n * s->step;
    s->left -= n;
    return true;
}

/* n elements one by one: cells are touched in part, or races are raised. False: no id available, or a race
 * must be raised before anything else is done. */
static bool one_by_one(struct dh_access_now *a, struct stride *s, u64 n)
{
    bool raised = false;
    for (; n > 0 && !raised; n--) {
        a->addr = s->next;
        if (!dh_engine_same_epoch(a->t, s->next, s->size, a->kind)) {
            if (dh_id_is_none(a->id) && !dh_step_identify(a, s->pc))
                return false;
            bool seen =
                dh_touched_note(a->addr, a->size, a->kind == DH_WRITE ? a->t->marks_write : a->t->marks_read);
            raised = seen && dh_exception_before(a);
            if (seen && !raised) {
                struct dh_recheck *r = dh_recheck_range(a->t, a->kind, s->next, s->size, s->size, 1);
                dh_engine_words(a, s->next, s->next + s->size);
                dh_recheck_end(r);
            }
        }
        s->next += s->step;
        s->left--;
    }
    return !raised;
}

/* As many elements as lie in one region of shadow, but at least one. */
static bool in_region(struct dh_access_now *a, struct stride *s)
{
    u64 room = (DH_REGION_SIZE - s->next % DH_REGION_SIZE) / s->step, n = room ? room : 1;
    uptr bits = s->next | s->step | s->size;
    n = n < s->left ? n : s->left;
    if (!dh_region_map((void *)s->next, (n - 1) * s->step + s->size)) {
        dh_runtime_count(DH_COUNT_LOST_SHADOW);
        s->next += n * s->step;
        s->left -= n;
        return true;
    }
    if (bits % 4 != 0 || dh_exception_on())
        return one_by_one(a, s, n);
    return bits % 8 == 0 ? in_units(a, s, n, 8) : in_units(a, s, n, 4);
}

/* All that is left, outside a sampling period. */
static void unsampled(struct dh_access_now *a, struct stride *s)
{
    for (; s->left > 0; s->left--, s->next += s->step) {
        a->addr = s->next;
        bool known =
            s->size <= 16 && !(a->kind & DH_WRITE) && dh_unsampled_read_is_known(a->t, s->next, s->size);
        if (!known && !dh_unsampled_is_quiet_stride(s->next, s->step, 1, s->size))
            dh_unsampled_access(a, s->pc);
    }
}

static void from_code(struct stride s, u32 piece, u32 kind)
{
    struct dh_thread *t = __dh_hot.self;
    struct dh_access_now a = {.t = t, .size = s.size, .piece = piece == s.size ? 0 : piece, .kind = kind};
    bool more = t != NULL;
    if (t)
        t->work++;
    if (t && s.left > 0 && dh_unsampled_may_pass(t) &&
        dh_unsampled_is_quiet_stride(s.next, s.step, s.left, s.size))
        return;
    /* A race is raised on leaving the runtime; the rest of the elements come after that. */
    while (more && s.left > 0 && dh_thread_enter(t)) {
        more = !dh_runtime_off && !t->untracked && !t->alone;
        /* Not in sink.h: instrumented code comes here without it. */
        for (; more && dh_tap != NULL && s.left > 0; s.left--, s.next += s.step)
            dh_tap->access(t, &(struct dh_tap_access){s.next, s.size, a.piece, kind, s.pc});
        a.id = DH_ID_NONE;
        a.addr = s.next;
        if (more && DH_UNLIKELY(t->unsampled))
            unsampled(&a, &s);
        while (more && s.left > 0 && in_region(&a, &s))
            continue;
        more = more && !dh_id_is_none(a.id);
        dh_thread_leave(t);
    }
}

void __dh_read_stride(const volatile void *p, u64 step, u64 count, u32 size, u32 piece)
{
    struct stride s = {
        .next = (uptr)p, .step = step, .left = count, .size = size, .pc = __builtin_return_address(0)};
    from_code(s, piece, DH_READ);
}

void __dh_write_stride(const volatile void *p, u64 step, u64 count, u32 size, u32 piece)
{
    struct stride s = {
        .next = (uptr)p, .step = step, .left = count, .size = size, .pc = __builtin_return_address(0)};
    from_code(s, piece, DH_WRITE);
}
