/*
 * engine.c - the slow paths of single accesses.
 *
 * Order of work, which makes the engine lossless without locks: an access first publishes itself in its own
 * plane by compare-exchange, then reads what it must be checked against: a read checks the write plane, a
 * write the read planes of all classes that have read nearby. A compare-exchange is a full fence on x86-64;
 * so of two accesses that race at the same instant at least one sees the other. For the same plane (write
 * against write) the compare-exchange itself shows the loser the winner. Range accesses use plain stores;
 * dh_range_settled explains how an access and a range are sure to see each other.
 */
#include "runtime/engine/engine.h"

#include "runtime/engine/exception.h"
#include "runtime/engine/recheck.h"
#include "runtime/engine/rules.h"
#include "runtime/engine/unsampled.h"
#include "runtime/init.h"
#include "runtime/report/modules.h"
#include "runtime/shadow/region.h"
#include "runtime/threads/context.h"
#include "runtime/threads/lockset.h"

/* What cell `old` becomes; unchanged if a was put into it in place. A history that is replaced again and
 * again becomes the cell's own. */
static dh_cell_t next_cell(const struct dh_access_now *a, dh_cell_t old, dh_mask_t mask, enum dh_plane plane)
{
    const u32 often = 8;
    if (dh_cell_is_history(old) && (a->kind & (DH_WRITE | DH_ATOMIC)) != DH_WRITE &&
        dh_step_in_place(a, old, mask))
        return old;
    dh_cell_t cell = dh_step_cell(a, old, mask, plane);
    if (!dh_cell_is_history(cell) || dh_history_get(cell)->age < often || dh_history_get(cell)->by_slot)
        return cell;
    dh_cell_t own = dh_history_private(dh_history_get(cell));
    return dh_cell_is_none(own) ? cell : own;
}

static void check(const struct dh_access_now *a, uptr word, const struct dh_content *c, dh_mask_t mask)
{
    if (DH_UNLIKELY(dh_cell_is_split(c->cell)))
        dh_step_check_bytes(a, word, &c->bytes, mask);
    else if ((a->kind & DH_ATOMIC) && dh_cell_is_history(c->cell) &&
             dh_history_get(c->cell)->by_slot == DH_BY_SLOT_ATOMIC)
        return; /* atomic accesses do not race with each other */
    else if (!dh_step_ordered(a->t, c->cell))
        dh_step_check(a, word, c->cell, mask);
}

/*
 * A plain write has raced with a write. The rules continue as if it had been ordered, so no thread may count
 * as having accessed the word since: one that finds its own epoch in its read plane would not check against
 * this write. Other parts of the word keep their history.
 */
static void forget_beside(const struct dh_access_now *a, uptr word, dh_mask_t mask)
{
    u32 marks = dh_touched_mark(word);
    for (u32 class = 0; class < DH_READ_CLASSES; class ++) {
        if (class == a->t->class || !dh_touched_plane(marks, class))
            continue;
        dh_cell_t *r = dh_shadow_nth(word, class), cell = dh_cell_load(r);
        if (!dh_cell_is_none(cell) && dh_cell_is_simple(cell) && dh_mask_covers(mask, dh_cell_mask(cell)))
            dh_cell_cas_relaxed(r, cell, DH_CELL_NONE);
    }
}

void dh_engine_forget_beside(const struct dh_access_now *a, uptr lo, uptr hi)
{
    for (uptr word = lo; word < hi; word += 4)
        forget_beside(a, word, DH_MASK_FULL);
}

/* A write: check it against the writes that it replaces. True: it is plain, and has raced with one. */
static bool check_own(const struct dh_access_now *a, uptr word, const struct dh_content *was, dh_mask_t mask)
{
    check(a, word, was, mask);
    return !(a->kind & DH_ATOMIC) && dh_cell_is_simple(was->cell) &&
           dh_mask_meets(dh_cell_mask(was->cell), mask) && !dh_step_ordered(a->t, was->cell);
}

/* Put a into some bytes of split cell `old`, whose content the caller has read. False: the cell has been
 * replaced, start over (what was replaced has been checked). */
static bool put_bytes(const struct dh_access_now *a, uptr word, dh_mask_t mask, enum dh_plane plane,
                      dh_cell_t *p, dh_cell_t old, struct dh_bytes *b, dh_cell_t *ret_cell)
{
    const struct dh_bytes before = *b;
    bool all = true;
    dh_mask_t replaced = DH_MASK_NONE;
    for (dh_mask_t rest = mask; !dh_mask_is_none(rest); rest = dh_mask_rest(rest)) {
        u32 k = dh_mask_first(rest);
        dh_cell_t fresh = dh_step_cell(a, b->cell[k], DH_MASK_FULL, plane);
        if (dh_cell_eq(fresh, b->cell[k]))
            continue;
        all = dh_split_change(old, b, k, fresh);
        if (!all)
            break;
        b->cell[k] = fresh;
        replaced = dh_mask_or(replaced, dh_mask_byte(k));
    }
    if (!dh_mask_is_none(replaced) && (a->kind & DH_WRITE))
        dh_step_check_bytes(a, word, &before, replaced);
    if (!all || !dh_cell_eq(dh_cell_load_fenced(p), old))
        return false;
    *ret_cell = old;
    dh_cell_t me = dh_cell_make(a->id, DH_MASK_FULL);
    /* A thread that changes a byte between our load and this exchange sees that the cell has been
     * replaced. */
    if (dh_step_collapses(a, b) && dh_cell_cas(p, old, me)) {
        dh_split_free(a->t, old);
        *ret_cell = me;
    }
    return true;
}

/* Put a into a cell that must be split for it. As above. */
static bool put_split(const struct dh_access_now *a, dh_mask_t mask, enum dh_plane plane, dh_cell_t *p,
                      dh_cell_t old, dh_cell_t *ret_cell)
{
    dh_cell_t bytes[4];
    bool ok = true;
    DH_ASSERT(!dh_cell_is_none(old) && !dh_cell_is_split(old) && !dh_mask_is_full(mask));
    for (u32 k = 0; k < 4 && ok; k++) {
        ok = dh_step_byte(old, k, &bytes[k]);
        if (ok && dh_mask_has(mask, k))
            bytes[k] = dh_step_cell(a, bytes[k], DH_MASK_FULL, plane);
    }
    dh_cell_t fresh = ok ? dh_split_new(a->t, bytes) : DH_CELL_NONE;
    if (dh_cell_is_none(fresh)) {
        dh_runtime_degrade("no memory for access histories");
        *ret_cell = old;
        return true;
    }
    *ret_cell = fresh;
    dh_rule(a->t, DH_COUNT_SPLIT);
    if (dh_cell_cas(p, old, fresh))
        return true;
    dh_split_free(a->t, fresh);
    return false;
}

/* Publish access a in its plane, and if it is a write, check it against what was there. A full fence. Returns
 * the cell as it then is; *ret_raced is set as by check_own. */
static dh_cell_t put(const struct dh_access_now *a, uptr word, dh_mask_t mask, enum dh_plane plane,
                     bool *ret_raced)
{
    bool write = (a->kind & DH_WRITE) != 0;
    dh_cell_t *p = dh_shadow(word, plane);
    for (;;) {
        struct dh_content was = dh_split_content(p);
        dh_cell_t old = was.cell, cell;
        DH_ASSERT(dh_valid_cell(old, plane) && (!dh_cell_is_split(old) || dh_valid_bytes(&was.bytes, plane)));
        if (DH_UNLIKELY(dh_cell_is_split(old)) && !dh_mask_is_full(mask)) {
            dh_rule(a->t, DH_COUNT_SPLIT_BYTES);
            if (put_bytes(a, word, mask, plane, p, old, &was.bytes, &cell))
                return cell;
            continue;
        }
        if (dh_step_splits(a, old, mask)) {
            if (!put_split(a, mask, plane, p, old, &cell))
                continue;
            if (write && check_own(a, word, &was, mask))
                *ret_raced = true;
            return cell;
        }
        cell = dh_cell_is_split(old) ? dh_step_whole(a, &was.bytes, plane) : next_cell(a, old, mask, plane);
        DH_ASSERT(dh_valid_cell(cell, plane) && !dh_cell_is_split(cell));
        if (dh_cell_eq(cell, old)) {
            /* In place, or nothing to change. If the cell was replaced, our entry is in a history that is no
             * longer visible. */
            if (!dh_cell_eq(dh_cell_load_fenced(p), old))
                continue;
        } else if (!dh_cell_cas(p, old, cell)) {
            dh_rule(a->t, DH_COUNT_COLLIDED);
            continue;
        } else if (dh_cell_is_split(was.cell)) {
            dh_split_read_taken(was.cell, &was.bytes);
            DH_ASSERT((was.bytes.use & 1) && dh_valid_bytes(&was.bytes, plane));
            dh_split_free(a->t, was.cell);
        }
        if (DH_UNLIKELY(dh_rules_on))
            dh_rules_put(a, was.cell, cell);
        if (write && check_own(a, word, &was, mask))
            *ret_raced = true;
        return cell;
    }
}

/* A plain write has made the write cell `cell`. Store it in the read cell too where that is simple, so that
 * reading the bytes back hits the inlined check (step.c). A reader (or range) that comes in between published
 * itself first and sees our write, so overwriting its entry loses nothing. */
static void stand_for_read(const struct dh_access_now *a, dh_cell_t *q, dh_cell_t other, dh_cell_t cell)
{
    if (!dh_cell_is_simple(cell) || dh_cell_eq(other, cell))
        return;
    DH_ASSERT((a->kind & (DH_WRITE | DH_ATOMIC)) == DH_WRITE && dh_valid_cell(cell, DH_PLANE_WRITE));
    if (dh_cell_is_split(other)) {
        if (dh_mask_is_full(dh_cell_mask(cell)) && dh_cell_cas_relaxed(q, other, cell))
            dh_split_free(a->t, other);
        return;
    }
    const dh_cell_t both = dh_step_stand(other, cell);
    if (!dh_cell_eq(both, other))
        dh_cell_store(q, both);
}

/* For a write: check what other classes have read. */
static void look_beside(const struct dh_access_now *a, uptr word, dh_mask_t mask, u32 classes)
{
    for (u32 rest = classes; rest; rest &= rest - 1) {
        struct dh_content other = dh_split_content(dh_shadow_nth(word, (u32)__builtin_ctz(rest)));
        check(a, word, &other, mask);
    }
}

void dh_engine_look_again(const struct dh_access_now *a, uptr word, dh_mask_t mask)
{
    struct dh_content other = dh_split_content(dh_shadow(word, DH_PLANE_WRITE));
    check(a, word, &other, mask);
}

void dh_engine_look_beside(const struct dh_access_now *a, uptr word, u32 classes)
{
    look_beside(a, word, DH_MASK_FULL, classes);
}

/* Check the other planes, after the access was published as `cell`. */
static void look(const struct dh_access_now *a, uptr word, dh_mask_t mask, dh_cell_t cell)
{
    bool write = (a->kind & DH_WRITE) != 0, plain = !(a->kind & DH_ATOMIC);
    dh_cell_t *q = dh_shadow(word, write ? DH_PLANE_READ : DH_PLANE_WRITE);
    struct dh_content other = dh_split_content(q);
    DH_ASSERT(dh_valid_cell(other.cell, write ? DH_PLANE_READ : DH_PLANE_WRITE));
    check(a, word, &other, mask);
    if (write)
        look_beside(a, word, mask, dh_engine_readers(a->t, word));
    else
        dh_unsampled_show(word, 4);
    if (write && dh_cell_is_history(other.cell))
        dh_rule(a->t, DH_COUNT_WRITE_SHARED);
    if (write && plain)
        stand_for_read(a, q, other.cell, cell);
    if (!write && plain && dh_mask_is_full(mask))
        dh_step_set_mine(a->t, cell, mask);
}

void dh_engine_word(const struct dh_access_now *a, uptr word, dh_mask_t mask)
{
    enum dh_plane plane = a->kind & DH_WRITE ? DH_PLANE_WRITE : DH_PLANE_READ;
    const dh_cell_t *p = dh_shadow(word, plane);
    dh_cell_t cell;
    bool waited, raced = false;
    DH_ASSERT(a->t->in_rt && dh_valid_id(a->id) && !dh_mask_is_none(mask) && !(word & 3));
    do {
        cell = put(a, word, mask, plane, &raced);
        waited = DH_UNLIKELY(__atomic_load_n(&dh_ranges_active, __ATOMIC_ACQUIRE) != 0) &&
                 dh_range_wait(word, word + 4);
    } while (waited || !dh_cell_eq(dh_cell_load(p), cell)); /* dh_range_settled */
    look(a, word, mask, cell);
    if (DH_UNLIKELY(raced))
        forget_beside(a, word, mask);
}

void dh_engine_word_announced(const struct dh_access_now *a, uptr word, dh_mask_t mask)
{
    bool raced = false;
    look(a, word, mask, put(a, word, mask, a->kind & DH_WRITE ? DH_PLANE_WRITE : DH_PLANE_READ, &raced));
    if (DH_UNLIKELY(raced))
        forget_beside(a, word, mask);
}

/* Two cells at once where they are equal, as they are for nearly all 8-byte data. False: not done. */
static bool two_words(const struct dh_access_now *a, uptr word)
{
    struct dh_thread *t = a->t;
    bool write = (a->kind & DH_WRITE) != 0;
    dh_cell_t *p = dh_shadow(word, write ? DH_PLANE_WRITE : DH_PLANE_READ);
    dh_cell_t *q = dh_shadow(word, write ? DH_PLANE_READ : DH_PLANE_WRITE);
    dh_pair_t old = dh_pair_load(p);
    dh_cell_t lo = dh_pair_lo(old);
    DH_ASSERT(t->in_rt && !(word & 7) && dh_valid_cell(lo, write ? DH_PLANE_WRITE : DH_PLANE_READ));
    if (!dh_pair_is_even(old) || dh_cell_is_split(lo) || !dh_step_ordered(t, lo))
        return false;
    dh_cell_t me = dh_cell_make(a->id, DH_MASK_FULL);
    dh_pair_t both = dh_pair_of(me);
    if (!dh_pair_cas(p, old, both) || !dh_range_settled(p, me) || !dh_range_settled(p + 1, me))
        return false;
    dh_rule(t, write ? DH_COUNT_WRITE_EXCLUSIVE : DH_COUNT_READ_EXCLUSIVE);
    if (write) {
        u32 readers = dh_engine_readers(t, word);
        look_beside(a, word, DH_MASK_FULL, readers);
        look_beside(a, word + 4, DH_MASK_FULL, readers);
    } else {
        dh_unsampled_show(word, 8);
    }
    dh_pair_t other = dh_pair_load(q);
    dh_cell_t olo = dh_pair_lo(other), ohi = dh_pair_hi(other);
    if (DH_UNLIKELY(dh_cell_is_split(olo) || dh_cell_is_split(ohi))) {
        for (u32 half = 0; half < 2; half++) {
            struct dh_content c = dh_split_content(q + half);
            check(a, word + half * 4, &c, DH_MASK_FULL);
            if (write)
                stand_for_read(a, q + half, c.cell, me);
        }
        return true;
    }
    if (!dh_step_ordered(t, olo))
        dh_step_check(a, word, olo, DH_MASK_FULL);
    if (!dh_pair_is_even(other) && !dh_step_ordered(t, ohi))
        dh_step_check(a, word + 4, ohi, DH_MASK_FULL);
    if (write && !(a->kind & DH_FREE)) /* freed memory is not read back */
        dh_pair_store(q, both);
    return true;
}

void dh_engine_words(const struct dh_access_now *a, uptr addr, uptr end)
{
    uptr word = addr & ~(uptr)3;
    while (word < end) {
        if (word >= addr && word + 8 <= end && !(word & 7) && !(a->kind & DH_ATOMIC) && two_words(a, word)) {
            word += 8;
            continue;
        }
        dh_engine_word(a, word, dh_mask_within(word, addr, end));
        word += 4;
    }
}

void dh_engine_access(struct dh_access_now *a, const void *pc)
{
    if (!dh_step_identify(a, pc) || dh_exception_before(a))
        return;
    struct dh_recheck *r = dh_recheck_range(a->t, a->kind, a->addr, a->size, a->size, 1);
    dh_engine_words(a, a->addr, a->addr + a->size);
    dh_recheck_end(r);
}

/*
 * The use of a lock is checked before what the lock orders. But it does order what its earlier owners did to
 * the lock's own memory, if they keep their number there, say; and uninstrumented code that fills the memory
 * of a lock may pass it on by atomics that we do not see, so that is no more counted than its initialisation
 * of locks. Memory that is free when it is used was never passed on.
 */
bool dh_engine_excuses(uptr lock, dh_id_t earlier)
{
    const struct dh_access_rec r = dh_id_get(earlier);
    if (r.kind & DH_FREE)
        return false;
    for (dh_lockset_t s = r.lockset; dh_lockset_is_listed(s); s = dh_lockset_node(s)->parent)
        if (dh_lockset_node(s)->lock == lock)
            return true;
    return dh_lockset_is_unknown(r.lockset) ||
           (!dh_ctx_is_none(r.ctx) && dh_modules_is_plain(dh_ctx_node(r.ctx)->pc));
}

void dh_engine_check(struct dh_thread *t, const volatile void *p, size_t n)
{
    if (dh_runtime_off || !dh_region_has((uptr)p))
        return;
    struct dh_content c = dh_split_content(dh_shadow((uptr)p, DH_PLANE_WRITE));
    if (!dh_cell_is_split(c.cell) && dh_step_ordered(t, c.cell))
        return;
    struct dh_access_now a = {.t = t, .addr = (uptr)p, .size = n, .kind = DH_READ | DH_ATOMIC};
    uptr word = a.addr & ~(uptr)3;
    if (!dh_step_identify(&a, NULL))
        return;
    a.kind |= DH_UNKEPT;
    check(&a, word, &c, dh_mask_within(word, a.addr, a.addr + n));
}

/* [READ/WRITE SAME EPOCH] on bytes: has this thread made such an access to all of them in this epoch, in
 * whatever calling context? Then the first record of each is enough, and there is nothing to do. */
bool dh_engine_same_epoch(struct dh_thread *t, uptr addr, size_t size, u32 kind)
{
    enum dh_plane plane = kind & DH_WRITE ? DH_PLANE_WRITE : DH_PLANE_READ;
    uptr end = addr + size;
    for (uptr word = addr & ~(uptr)3; word < end; word += 4) {
        struct dh_content c = dh_split_content(dh_shadow(word, plane));
        dh_mask_t have = DH_MASK_NONE;
        if (dh_cell_is_split(c.cell)) {
            for (u32 k = 0; k < 4; k++) {
                dh_mask_t byte = dh_step_mine_mask(c.bytes.cell[k]);
                if (dh_mask_is_none(byte))
                    continue;
                have = dh_mask_or(have, dh_mask_byte(k));
                dh_step_set_mine(t, c.bytes.cell[k], byte);
            }
        } else {
            have = dh_step_mine_mask(c.cell);
        }
        if (!dh_mask_covers(have, dh_mask_within(word, addr, end)))
            return false;
        dh_step_set_mine(t, c.cell, have);
    }
    return true;
}
