/*
 * range.c - accesses to many bytes at once.
 *
 * Whole words of a range are processed with plain loads and stores, runs of equal cells at a time. To stay
 * lossless (engine.c) the range is announced first: announcing is a locked instruction, so a single access
 * that publishes itself after we read its cell sees the announcement, or what we have done since
 * (dh_range_settled), and looks again. Overlapping ranges exclude each other.
 */
#include "base/sys.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/exception.h"
#include "runtime/engine/pending.h"
#include "runtime/engine/recheck.h"
#include "runtime/engine/rules.h"
#include "runtime/engine/unsampled.h"
#include "runtime/init.h"
#include "runtime/shadow/cells.h"
#include "runtime/shadow/exclusive.h"
#include "runtime/shadow/region.h"
#include "runtime/sink/tap.h"

enum {
    SLOTS = 64,
    SMALL = 64, /* up to here, word by word */
};
_Static_assert(SLOTS == 8 * sizeof(u64), "a bit of dh_ranges_active for each");

u64 dh_ranges_active; /* atomic; bit i set: slots[i] is valid */
/* Elements of `size` bytes, `step` bytes apart; a range without gaps is one element. */
struct stretch {
    uptr lo, hi, step, size;
};
static struct stretch slots[SLOTS]; /* entry i is written by the owner of bit i, before setting it */
static struct dh_lock lock = DH_LOCK_INIT(DH_RANK_RANGE);

static struct stretch slot_get(u32 i)
{
    struct stretch s = {
        __atomic_load_n(&slots[i].lo, __ATOMIC_RELAXED), __atomic_load_n(&slots[i].hi, __ATOMIC_RELAXED),
        __atomic_load_n(&slots[i].step, __ATOMIC_RELAXED), __atomic_load_n(&slots[i].size, __ATOMIC_RELAXED)};
    return s;
}

/* Does an element of s overlap [lo, hi)? */
static bool touches(const struct stretch *s, uptr lo, uptr hi)
{
    if (s->lo >= hi || s->hi <= lo)
        return false;
    uptr from = lo > s->lo ? lo - s->lo : 0, inside = from % s->step;
    uptr next = s->lo + from - inside + s->step;
    return inside < s->size || (next < hi && next < s->hi);
}

static bool meet(const struct stretch *a, const struct stretch *b)
{
    if (a->step == a->size)
        return touches(b, a->lo, a->hi);
    if (b->step == b->size || a->step != b->step) /* different steps: do not look closer */
        return touches(a, b->lo, b->hi) && (b->step == b->size || touches(b, a->lo, a->hi));
    uptr apart = (b->lo > a->lo ? b->lo - a->lo : a->lo - b->lo) % a->step;
    if (b->lo < a->lo && apart > 0)
        apart = a->step - apart;
    return a->lo < b->hi && b->lo < a->hi && (apart < a->size || apart + b->size > a->step);
}

static bool overlaps_active(const struct stretch *s)
{
    for (u64 bits = __atomic_load_n(&dh_ranges_active, __ATOMIC_SEQ_CST); bits; bits &= bits - 1) {
        struct stretch other = slot_get((u32)__builtin_ctzll(bits));
        if (meet(s, &other))
            return true;
    }
    return false;
}

/* The step is never zero, even for an empty range: others divide by it. */
static struct stretch whole(uptr lo, uptr hi)
{
    uptr n = hi > lo ? hi - lo : 1;
    return (struct stretch){lo, hi, n, n};
}

bool dh_range_wait(uptr lo, uptr hi)
{
    struct stretch s = whole(lo, hi);
    bool waited = false;
    while (overlaps_active(&s)) {
        waited = true;
        dh_sys_yield();
    }
    return waited;
}

static u32 announce(const struct stretch *s)
{
    DH_ASSERT(s->lo < s->hi);
    for (;;) {
        dh_lock_take(&lock);
        u64 free = ~__atomic_load_n(&dh_ranges_active, __ATOMIC_RELAXED);
        if (free && !overlaps_active(s)) {
            u32 i = (u32)__builtin_ctzll(free);
            __atomic_store_n(&slots[i].lo, s->lo, __ATOMIC_RELAXED);
            __atomic_store_n(&slots[i].hi, s->hi, __ATOMIC_RELAXED);
            __atomic_store_n(&slots[i].step, s->step, __ATOMIC_RELAXED);
            __atomic_store_n(&slots[i].size, s->size, __ATOMIC_RELAXED);
            __atomic_fetch_or(&dh_ranges_active, 1ull << i, __ATOMIC_SEQ_CST);
            dh_lock_drop(&lock);
            return i;
        }
        dh_lock_drop(&lock);
        dh_sys_yield();
    }
}

u32 dh_range_announce(uptr lo, uptr hi)
{
    struct stretch s = whole(lo, hi);
    return announce(&s);
}

u32 dh_range_announce_stride(uptr lo, uptr step, u64 count, u32 size)
{
    return announce(&(struct stretch){lo, lo + (count - 1) * step + size, step, size});
}

void dh_range_retract(u32 i)
{
    DH_ASSERT(i < SLOTS && (__atomic_load_n(&dh_ranges_active, __ATOMIC_RELAXED) >> i & 1));
    __atomic_fetch_and(&dh_ranges_active, ~(1ull << i), __ATOMIC_RELEASE);
}

/* The end of the part from lo, at most to hi, where both planes are contiguous. */
static uptr run_end(uptr lo, uptr hi)
{
    uptr end = DH_ALIGN_DOWN(lo, DH_READ_RUN) + DH_READ_RUN;
    return end < hi ? end : hi;
}

/* Does every cell of [lo, hi) already say that this thread made such an access in its current epoch? */
static bool all_mine(struct dh_thread *t, uptr lo, uptr hi, enum dh_plane plane)
{
    uptr end = run_end(lo, hi);
    const dh_cell_t *c = dh_shadow(lo, plane);
    size_t n = (end - lo) / 4, i = 0;
    for (;;) {
        i += dh_cells_within(c + i, n - i, __dh_hot.base, __dh_hot.span);
        if (i == n && end == hi)
            return true;
        if (i == n) {
            lo = end;
            end = run_end(lo, hi);
            c = dh_shadow(lo, plane);
            n = (end - lo) / 4;
            i = 0;
            continue;
        }
        dh_cell_t cell = dh_cell_load(&c[i]);
        if (plane != DH_PLANE_READ || !dh_step_is_mine(t, cell))
            return false;
        i += dh_cells_equal(c + i, n - i, cell);
    }
}

void dh_range_each_lock(dh_lock_fn *fn)
{
    fn(&lock);
}

void dh_range_fork_child(void)
{
    dh_ranges_active = 0;
}

/* What a run of equal cells becomes; computed once per run. */
struct run {
    dh_cell_t own, other;         /* what the two planes held */
    dh_cell_t new_own, new_other; /* what they will hold; none: not known yet */
    bool raced;                   /* some run of writes has raced so far */
};

static void run_start(const struct dh_access_now *a, uptr word, dh_cell_t own, dh_cell_t other,
                      struct run *ret)
{
    bool write = (a->kind & DH_WRITE) != 0;
    DH_ASSERT(dh_valid_cell(own, write ? DH_PLANE_WRITE : DH_PLANE_READ));
    DH_ASSERT(dh_valid_cell(other, write ? DH_PLANE_READ : DH_PLANE_WRITE));
    ret->own = own;
    ret->other = other;
    ret->new_own = dh_step_cell(a, own, DH_MASK_FULL, write ? DH_PLANE_WRITE : DH_PLANE_READ);
    ret->new_other = write ? dh_step_cell(a, other, DH_MASK_FULL, DH_PLANE_READ) : other;
    if (write && !dh_step_ordered(a->t, own)) {
        dh_step_check(a, word, own, DH_MASK_FULL);
        ret->raced = true;
    }
    if (!(write && dh_cell_eq(other, own)) && !dh_step_ordered(a->t, other))
        dh_step_check(a, word, other, DH_MASK_FULL);
    if (!write)
        dh_step_set_mine(a->t, ret->new_own, DH_MASK_FULL);
}

/* A page of shadow that is read first, as here, is mapped twice: first the kernel's zero page, then a page of
 * its own, with a TLB shootdown on every processor that runs a thread of the program. */
static void touch_pages(dh_cell_t *p, size_t n)
{
    const size_t page = 4096 / sizeof(*p);
    for (size_t i = 0; n >= page && i < n; i += page)
        dh_cell_touch(&p[i]);
}

/* Check what class c has read of [lo, hi), which this range writes. Reads that happened before a plain write
 * are forgotten, as in FastTrack's [WRITE SHARED]: whatever races with them races with the write. Otherwise
 * the words of a buffer that is refilled again and again, and read bytewise, would be mixtures of this
 * round's reads and the last one's. A read that comes in between and is lost here sees the write itself. */
static void check_class(const struct dh_access_now *a, uptr lo, uptr hi, u32 class)
{
    dh_cell_t *r = dh_shadow_nth(lo, class);
    size_t n = (hi - lo) / 4;
    for (size_t i = 0, len; i < n; i += len) {
        dh_cell_t cell = dh_cell_load(&r[i]);
        len = 1;
        if (DH_UNLIKELY(dh_cell_is_split(cell))) {
            dh_engine_look_beside(a, lo + i * 4, 1u << class);
            continue;
        }
        len = dh_cells_equal(r + i, n - i, cell);
        if (!dh_step_ordered(a->t, cell))
            dh_step_check(a, lo + i * 4, cell, DH_MASK_FULL);
        else if (!dh_cell_is_none(cell) && !(a->kind & DH_ATOMIC))
            dh_cells_fill(r + i, len, DH_CELL_NONE);
    }
}

/* Check what other classes have read of [lo, hi), only where they have: looking elsewhere would touch
 * pages. */
static void check_readers(const struct dh_access_now *a, uptr lo, uptr hi)
{
    const uptr block = (uptr)1 << DH_TOUCHED_SHIFT;
    for (uptr at = lo, end; at < hi; at = end) {
        end = DH_ALIGN_DOWN(at, block) + block;
        end = end < hi ? end : hi;
        for (u32 rest = dh_engine_readers(a->t, at); rest; rest &= rest - 1)
            check_class(a, at, end, (u32)__builtin_ctz(rest));
    }
}

static void whole_words(const struct dh_access_now *a, uptr lo, uptr hi)
{
    bool write = (a->kind & DH_WRITE) != 0;
    /* Freed memory is not read back, so that need not hit the inlined check. */
    bool both = write && !(a->kind & (DH_FREE | DH_ATOMIC)); /* step.c: an atomic write changes one plane */
    u32 slot = dh_range_announce(lo, hi);
    dh_cell_t *p = dh_shadow(lo, write ? DH_PLANE_WRITE : DH_PLANE_READ);
    dh_cell_t *q = dh_shadow(lo, write ? DH_PLANE_READ : DH_PLANE_WRITE);
    struct run r = {0};
    touch_pages(p, (hi - lo) / 4);
    if (both)
        touch_pages(q, (hi - lo) / 4);
    size_t n = (hi - lo) / 4, own_end = 0, other_end = 0; /* where the current run of each plane ends */
    for (size_t i = 0, len; i < n; i += len) {
        dh_cell_t own = p[i], other = q[i];
        if (dh_cell_is_split(own) || dh_cell_is_split(other)) {
            dh_engine_word_announced(a, lo + i * 4, DH_MASK_FULL);
            r = (struct run){.raced = r.raced};
            len = 1;
            continue;
        }
        if (dh_cell_is_none(r.new_own) || !dh_cell_eq(own, r.own) || !dh_cell_eq(other, r.other))
            run_start(a, lo + i * 4, own, other, &r);
        /* Measured once per run, not per piece of it: one plane's long run may match many short ones of the
         * other. */
        if (i >= own_end)
            own_end = i + dh_cells_equal(p + i, n - i, own);
        if (i >= other_end)
            other_end = i + dh_cells_equal(q + i, n - i, other);
        len = (own_end < other_end ? own_end : other_end) - i;
        dh_cells_fill(p + i, len, r.new_own);
        if (both)
            dh_cells_fill(q + i, len, r.new_other);
        else if (!write && dh_cell_is_none(other) && dh_period_on) /* dh_unsampled_show */
            dh_cells_fill(q + i, len, DH_CELL_READS);
    }
    if (write)
        check_readers(a, lo, hi);
    if (r.raced)
        dh_engine_forget_beside(a, lo, hi);
    dh_range_retract(slot);
}

/* The words of [lo, hi), all in one block, if that is exclusive to this thread (exclusive.h): nothing to
 * check, and no announcement. Records of split cells are left to the collector. */
static bool words_alone(const struct dh_access_now *a, uptr lo, uptr hi)
{
    if (!dh_pending_all_own(a->t) || (a->kind & DH_ATOMIC))
        return false;
    const u32 class = a->t->class;
    const dh_cell_t cell = dh_cell_make(a->id, DH_MASK_FULL);
    DH_ASSERT(lo < hi && (lo ^ (hi - 1)) >> DH_TOUCHED_SHIFT == 0);
    bool mine = dh_exclusive_is(dh_exclusive_begin(class, lo), class);
    if (mine && (a->kind & DH_WRITE))
        dh_cells_fill(dh_shadow(lo, DH_PLANE_WRITE), (hi - lo) / 4, cell);
    if (mine && !(a->kind & DH_FREE)) /* freed memory is not read back */
        dh_cells_fill(dh_shadow(lo, DH_PLANE_READ), (hi - lo) / 4, cell);
    dh_exclusive_end(class);
    return mine;
}

/* Whole words of any number of blocks. */
static void many_words(const struct dh_access_now *a, uptr lo, uptr hi)
{
    const uptr block = (uptr)1 << DH_TOUCHED_SHIFT;
    uptr rest = lo; /* not done yet from here on */
    for (uptr at = lo, next; at < hi; at = next) {
        next = DH_ALIGN_DOWN(at, block) + block;
        next = next < hi ? next : hi;
        if (!words_alone(a, at, next))
            continue;
        for (uptr end; rest < at; rest = end) {
            end = run_end(rest, at);
            whole_words(a, rest, end);
        }
        rest = next;
    }
    for (uptr end; rest < hi; rest = end) {
        end = run_end(rest, hi);
        whole_words(a, rest, end);
    }
}

/* The part of a range whose shadow exists; the rest was counted where mapping it failed. */
static void access_mapped(const struct dh_access_now *a)
{
    uptr end = a->addr + a->size;
    if (a->kind & DH_FREE) /* whole blocks or pages: the padding belongs to nobody */
        end = DH_ALIGN_UP(end, 8);
    uptr lo = DH_ALIGN_UP(a->addr, 8), hi = DH_ALIGN_DOWN(end, 8);
    struct dh_recheck *r = dh_recheck_range(a->t, a->kind, a->addr, end - a->addr, end - a->addr, 1);
    if (end - a->addr <= SMALL) {
        bool whole = lo == a->addr && hi == end && lo >> DH_TOUCHED_SHIFT == (hi - 1) >> DH_TOUCHED_SHIFT;
        if (!whole || !words_alone(a, lo, hi))
            dh_engine_words(a, a->addr, end);
        dh_recheck_end(r);
        return;
    }
    dh_engine_words(a, a->addr, lo);
    dh_engine_words(a, hi, end);
    many_words(a, lo, hi);
    dh_recheck_end(r);
}

/* Is all of it already recorded in this epoch? Partial words at the ends are checked by bytes, the rest in
 * runs. */
static bool seen_before(struct dh_thread *t, uptr addr, size_t n, u32 kind)
{
    if (n <= SMALL)
        return dh_engine_same_epoch(t, addr, n, kind);
    uptr lo = DH_ALIGN_UP(addr, 4), hi = DH_ALIGN_DOWN(addr + n, 4);
    return all_mine(t, lo, hi, kind & DH_WRITE ? DH_PLANE_WRITE : DH_PLANE_READ) &&
           dh_engine_same_epoch(t, addr, lo - addr, kind) && dh_engine_same_epoch(t, hi, addr + n - hi, kind);
}

static void access_range(struct dh_thread *t, const volatile void *p, size_t n, u32 piece, u32 kind,
                         const void *pc)
{
    struct dh_access_now a = {.t = t, .addr = (uptr)p, .size = n, .piece = piece, .kind = kind};
    DH_ASSERT(t->in_rt);
    if (n == 0 || dh_runtime_off || t->untracked || t->alone)
        return;
    if (DH_UNLIKELY(dh_tap != NULL)) { /* not in sink.h: instrumented code comes here without it */
        dh_tap->access(t, &(struct dh_tap_access){a.addr, n, piece, kind, pc});
        return;
    }
    if (DH_UNLIKELY(t->unsampled)) {
        dh_unsampled_access(&a, pc);
        return;
    }
    dh_rule(t, DH_COUNT_RANGE);
    if (kind & DH_FREE)
        dh_pending_settle(t);
    if (n <= SMALL && !(kind & (DH_ATOMIC | DH_FREE))) {
        dh_quick_words(t, a.addr, (u32)n, piece, kind, pc);
        return;
    }
    if (!dh_touched_note(a.addr, n, kind & DH_WRITE ? t->marks_write : t->marks_read))
        return;
    if (!(kind & (DH_ATOMIC | DH_FREE)) && seen_before(t, a.addr, n, kind) &&
        dh_rule_yes(t, DH_COUNT_RANGE_SAME)) {
        dh_recheck_known(t, kind, a.addr, n, n, 1);
        return;
    }
    if (dh_step_identify(&a, pc) && !dh_exception_before(&a))
        access_mapped(&a);
}

void dh_range_access(struct dh_thread *t, const volatile void *p, size_t n, u32 kind, const void *pc)
{
    access_range(t, p, n, 0, kind, pc);
}

/* ---- What the pass calls ---- */

void dh_range_from_code(const volatile void *p, size_t n, u32 piece, u32 kind, const void *pc)
{
    struct dh_thread *t = __dh_hot.self;
    if (!t || n == 0)
        return;
    t->work++;
    if ((dh_unsampled_may_pass(t) && dh_unsampled_is_quiet((uptr)p, n)) || !dh_thread_enter(t))
        return;
    access_range(t, p, n, piece, kind, pc);
    dh_thread_leave(t);
}

void __dh_read_range(const volatile void *p, u64 n)
{
    dh_range_from_code(p, n, 0, DH_READ | DH_RANGE, __builtin_return_address(0));
}

void __dh_write_range(const volatile void *p, u64 n)
{
    dh_range_from_code(p, n, 0, DH_WRITE | DH_RANGE, __builtin_return_address(0));
}

/* A loop's range: as if every piece were accessed on its own, so no DH_RANGE. */
void __dh_read_loop(const volatile void *p, u64 n, u32 size)
{
    dh_range_from_code(p, n, size, DH_READ, __builtin_return_address(0));
}

void __dh_write_loop(const volatile void *p, u64 n, u32 size)
{
    dh_range_from_code(p, n, size, DH_WRITE, __builtin_return_address(0));
}
