/*
 * quick.c - the slow paths of fastpath.c where nothing unusual is found.
 *
 * Most accesses that miss the inlined check are a thread's first to some word in an epoch, and what the word
 * held, in both planes, is one access that has happened before. Then it only has to be replaced by this
 * access. That is done here, in the order of work that engine.c describes and by the same means (publish by
 * compare-exchange, then check the other plane); anything else is left to engine.c, which handles every case,
 * including a word that was partly done here.
 */
#include "runtime/engine/engine.h"
#include "runtime/engine/exception.h"
#include "runtime/engine/own.h"
#include "runtime/engine/parts.h"
#include "runtime/engine/recheck.h"
#include "runtime/engine/rules.h"
#include "runtime/engine/unsampled.h"
#include "runtime/init.h"
#include "runtime/sink/tap.h"

/* Some bytes of a word whose cell `old` is split. */
static DH_NOINLINE bool quick_bytes(const struct dh_access_now *a, uptr word, dh_mask_t mask, dh_cell_t old)
{
    bool write = (a->kind & DH_WRITE) != 0;
    dh_cell_t *p = dh_shadow(word, write ? DH_PLANE_WRITE : DH_PLANE_READ);
    dh_cell_t *q = dh_shadow(word, write ? DH_PLANE_READ : DH_PLANE_WRITE);
    struct dh_bytes b;
    if (!dh_split_read(p, old, &b))
        return false;
    for (dh_mask_t rest = mask; !dh_mask_is_none(rest); rest = dh_mask_rest(rest))
        if (!dh_own_before(a->t, b.cell[dh_mask_first(rest)]))
            return false;
    DH_ASSERT(dh_valid_id(a->id) && dh_valid_bytes(&b, write ? DH_PLANE_WRITE : DH_PLANE_READ) &&
              a->t->in_rt);
    dh_cell_t me = dh_cell_make(a->id, DH_MASK_FULL);
    for (dh_mask_t rest = mask; !dh_mask_is_none(rest); rest = dh_mask_rest(rest)) {
        if (!dh_split_change(old, &b, dh_mask_first(rest), me))
            return false;
        b.cell[dh_mask_first(rest)] = me;
    }
    if (!dh_range_settled(p, old) || !dh_own_bytes_before(a->t, q, dh_cell_load(q), mask) ||
        (write && !dh_own_readers_before(a->t, word, mask)))
        return false;
    dh_rule(a->t, DH_COUNT_SPLIT_BYTES);
    if (dh_step_collapses(a, &b) && dh_cell_cas(p, old, me))
        dh_split_free(a->t, old);
    return true;
}

/* Some bytes of a word whose cell holds an access that happened before, and that covers other bytes too. */
static DH_NOINLINE bool quick_split(const struct dh_access_now *a, uptr word, dh_mask_t mask, dh_cell_t old,
                                    dh_cell_t other)
{
    bool write = (a->kind & DH_WRITE) != 0;
    dh_cell_t *p = dh_shadow(word, write ? DH_PLANE_WRITE : DH_PLANE_READ);
    const dh_cell_t *q = dh_shadow(word, write ? DH_PLANE_READ : DH_PLANE_WRITE);
    dh_cell_t bytes[4];
    if (!dh_step_splits(a, old, mask))
        return false;
    for (u32 k = 0; k < 4; k++)
        bytes[k] = dh_mask_has(mask, k) ? dh_cell_make(a->id, DH_MASK_FULL) : dh_step_one_byte(old, k);
    dh_cell_t fresh = dh_split_new(a->t, bytes);
    if (dh_cell_is_none(fresh))
        return false;
    dh_rule(a->t, DH_COUNT_SPLIT);
    if (!dh_cell_cas(p, old, fresh)) {
        dh_split_free(a->t, fresh);
        return false;
    }
    return dh_range_settled(p, fresh) && dh_cell_eq(dh_cell_load(q), other) &&
           (!dh_cell_is_split(other) || dh_own_bytes_before(a->t, q, other, mask)) &&
           (!write || dh_own_readers_before(a->t, word, mask));
}

/* The bytes of mask of one word, as part of access a. False: not done. */
DH_INLINE bool quick_word(const struct dh_access_now *a, uptr word, dh_mask_t mask)
{
    struct dh_thread *t = a->t;
    const bool write = (a->kind & DH_WRITE) != 0;
    const dh_id_t id = a->id;
    dh_cell_t *p = dh_shadow(word, write ? DH_PLANE_WRITE : DH_PLANE_READ);
    dh_cell_t *q = dh_shadow(word, write ? DH_PLANE_READ : DH_PLANE_WRITE);
    dh_cell_t old = dh_cell_load(p), other = dh_cell_load(q);
    if (DH_UNLIKELY(dh_cell_is_split(old)) && !dh_mask_is_full(mask))
        return quick_bytes(a, word, mask, old);
    if (!dh_own_before(t, old) || (!dh_cell_eq(other, old) && !dh_own_bytes_before(t, q, other, mask)))
        return false;
    DH_ASSERT(dh_valid_id(id) && dh_valid_cell(old, write ? DH_PLANE_WRITE : DH_PLANE_READ));
    const dh_cell_t one = dh_cell_is_reads(old) ? DH_CELL_NONE : old; /* which is no access */
    const dh_cell_t cell = dh_step_part(t, one, write ? DH_CELL_NONE : other, id, mask);
    if (dh_cell_is_none(cell))
        return quick_split(a, word, mask, old, other);
    if (!dh_cell_cas(p, old, cell) || !dh_range_settled(p, cell) || !dh_cell_eq(dh_cell_load(q), other) ||
        (write && !dh_own_readers_before(t, word, mask)))
        return false;
    if (DH_UNLIKELY(dh_cell_is_split(other))) /* its bytes can change in place */
        return dh_own_bytes_before(t, q, other, mask);
    const dh_cell_t both = write ? dh_step_stand(other, cell) : other;
    if (!dh_cell_eq(both, other))
        dh_cell_store(q, both);
    return true;
}

DH_NOINLINE void dh_quick_look(struct dh_thread *t, uptr word, bool two, dh_id_t id)
{
    u32 size = two ? 8 : 4;
    struct dh_access_now a = {.t = t, .addr = word, .kind = DH_WRITE, .id = id};
    dh_step_widen(id, &a.addr, &size);
    a.size = size;
    dh_engine_words(&a, word, word + (two ? 8 : 4));
}

void dh_quick_part(const struct dh_access_now *a, uptr word, dh_mask_t mask)
{
    if (!quick_word(a, word, mask))
        dh_engine_word(a, word, mask);
}

/* Reads of a word that several threads read epoch after epoch: the cell has a slot for each (history.h).
 * *ret_unsure is cleared when something was stored: finding it again would look like a read that was already
 * checked. */
static DH_NOINLINE bool quick_in_place(struct dh_thread *t, uptr addr, u32 size, dh_mask_t need,
                                       const void *pc, bool *ret_unsure)
{
    struct dh_access_now a = {.t = t, .addr = addr, .size = size, .kind = DH_READ};
    for (uptr word = addr & ~(uptr)3; word < addr + size; word += 4) {
        const dh_cell_t *p = dh_shadow(word, DH_PLANE_READ), *q = dh_shadow(word, DH_PLANE_WRITE);
        dh_cell_t cell = dh_cell_load(p);
        if (!dh_cell_is_history(cell) || dh_history_get(cell)->by_slot != DH_BY_SLOT_PLAIN)
            return false;
        if (dh_mask_covers(dh_step_mine_mask(cell), need))
            continue;
        if (dh_id_is_none(a.id))
            a.id = dh_step_id(t, size, DH_READ, pc);
        if (dh_id_is_none(a.id) || !dh_step_in_place(&a, cell, need))
            return false;
        *ret_unsure = false;
        if (!dh_range_settled(p, cell) || !dh_own_before(t, dh_cell_load(q)))
            return false;
    }
    return true;
}

/* Two words with equal cells. */
DH_INLINE bool quick_pair(const struct dh_access_now *a, uptr addr)
{
    struct dh_thread *t = a->t;
    const bool write = (a->kind & DH_WRITE) != 0;
    dh_cell_t *p = dh_shadow(addr, write ? DH_PLANE_WRITE : DH_PLANE_READ);
    dh_cell_t *q = dh_shadow(addr, write ? DH_PLANE_READ : DH_PLANE_WRITE);
    dh_pair_t old = dh_pair_load(p), other = dh_pair_load(q);
    if (!dh_pair_is_even(old) || !dh_pair_is_even(other) || !dh_own_before(t, dh_pair_lo(old)) ||
        (!dh_pair_eq(other, old) && !dh_own_before(t, dh_pair_lo(other))))
        return false;
    DH_ASSERT(dh_valid_id(a->id) && dh_valid_cell(dh_pair_lo(old), write ? DH_PLANE_WRITE : DH_PLANE_READ));
    dh_cell_t me = dh_cell_make(a->id, DH_MASK_FULL);
    dh_pair_t both = dh_pair_of(me);
    if (!dh_pair_cas(p, old, both) || !dh_range_settled(p, me) || !dh_range_settled(p + 1, me) ||
        !dh_pair_eq(dh_pair_load(q), other) ||
        (write &&
         !(dh_own_readers_before(t, addr, DH_MASK_FULL) && dh_own_readers_before(t, addr + 4, DH_MASK_FULL))))
        return false;
    if (write)
        dh_pair_store(q, both);
    return true;
}

/* The same as below for one byte of a split cell. */
DH_INLINE bool hit_byte(struct dh_thread *t, dh_cell_t cell, bool *ret_unsure)
{
    if (dh_cell_is_simple(cell))
        return dh_step_mine_simple(cell);
    *ret_unsure = true;
    return dh_step_is_mine(t, cell) && t->gen == dh_collect_gen;
}

/* Is this access, to the bytes `need` of the word, known to be recorded in this epoch? *ret_unsure is set if
 * a history may hold it without our knowing. */
DH_INLINE bool hit_word(struct dh_thread *t, uptr word, dh_mask_t need, enum dh_plane plane, bool *ret_unsure)
{
    const dh_cell_t *p = dh_shadow(word, plane);
    dh_cell_t c = dh_cell_load(p);
    if (dh_cell_is_simple(c))
        return dh_step_mine_simple(c) && dh_mask_covers(dh_cell_mask(c), need);
    if (dh_cell_is_split(c)) {
        struct dh_bytes b;
        bool mine = dh_split_read(p, c, &b);
        for (; !dh_mask_is_none(need) && mine; need = dh_mask_rest(need))
            mine = hit_byte(t, b.cell[dh_mask_first(need)], ret_unsure);
        return mine;
    }
    *ret_unsure = true;
    /* A table that outlived a collection may name a recycled history. */
    return dh_mask_covers(dh_step_mine_known(t, c), need) && t->gen == dh_collect_gen;
}

/* What quick_* could not do. */
static DH_NOINLINE void rest(struct dh_thread *t, uptr addr, u32 size, u32 kind, const void *pc, bool unsure)
{
    struct dh_access_now a = {.t = t, .addr = addr, .size = size, .kind = kind};
    if (DH_UNLIKELY(dh_rules_on))
        dh_rules_miss(t, addr, size, kind);
    if (!dh_runtime_off && !(unsure && dh_engine_same_epoch(t, addr, size, kind)) &&
        dh_step_identify(&a, pc) && !dh_exception_before(&a))
        dh_engine_words(&a, addr, addr + size);
}

/* Like quick_word, for a thread that is alone in its class (own.h): two whole words, or the bytes of mask of
 * one. The marks are set. */
DH_INLINE bool own_words(struct dh_thread *t, uptr word, bool two, dh_mask_t mask, bool write, dh_id_t id)
{
    const bool whole = dh_mask_is_full(mask);
    struct dh_recheck *r = dh_recheck_word(t, write ? DH_WRITE : DH_READ, word, two, mask);
    if (dh_own_alone(t, word, two, mask, write, id) || (!write && dh_own_read(t, word, two, mask, id)) ||
        (write && whole && dh_own_write(t, word, two, id))) {
        dh_recheck_end(r);
        return true;
    }
    dh_recheck_drop(r);
    if (whole || !dh_split_pressure(t))
        return false;
    dh_parts_add(t, word, mask, write, id);
    dh_recheck_waits(t, word, mask, write);
    return true;
}

/* From this many words on, do all at once; for fewer, one by one is as fast. */
#define RUN 3u

/* The words of [lo, hi), all in one block, if they can be done all at once. *id is none until one is
 * needed. */
static bool quick_run(const struct dh_access_now *a, uptr lo, uptr hi, const void *pc, dh_id_t *id)
{
    const bool write = (a->kind & DH_WRITE) != 0;
    const u32 n = (u32)(hi - lo) / 4;
    const dh_cell_t *c = dh_shadow(lo, write ? DH_PLANE_WRITE : DH_PLANE_READ);
    if (dh_cells_within(c, n, __dh_hot.base, __dh_hot.span) == n) {
        dh_recheck_known(a->t, a->kind, lo, hi - lo, hi - lo, 1);
        return true;
    }
    *id = dh_step_id(a->t, a->piece ? a->piece : (u32)a->size, a->kind, pc);
    if (dh_id_is_none(*id))
        return false;
    struct dh_recheck *r = dh_recheck_range(a->t, a->kind, lo, hi - lo, hi - lo, 1);
    const bool done = dh_own_run(a->t, lo, hi, write, *id);
    if (done)
        dh_recheck_end(r);
    else
        dh_recheck_drop(r);
    return done;
}

/* Words are handled one by one, or as aligned pairs. Those already accessed in this epoch need no work, and
 * where an unaligned access advances byte by byte those are most of them. */
void dh_quick_words(struct dh_thread *t, uptr addr, u32 size, u32 piece, u32 kind, const void *pc)
{
    const bool write = (kind & DH_WRITE) != 0;
    enum dh_plane plane = write ? DH_PLANE_WRITE : DH_PLANE_READ;
    const uptr end = addr + size;
    struct dh_access_now a = {.t = t, .addr = addr, .size = size, .piece = piece, .kind = kind};
    if (!dh_touched_note(addr, size, write ? t->marks_write : t->marks_read))
        return;
    const uptr lo = DH_ALIGN_UP(addr, 4), hi = DH_ALIGN_DOWN(end, 4);
    const bool own = dh_pending_may(t),
               run = own && hi > lo && hi - lo >= RUN * 4 && hi - lo <= DH_OWN_RUN * 4 &&
                     (lo ^ (hi - 1)) >> DH_TOUCHED_SHIFT == 0; /* elsewhere planes are not contiguous */
    for (uptr word = addr & ~(uptr)3, next; word < end; word = next) {
        dh_mask_t need = dh_mask_within(word, addr, end);
        if (run && word == lo && quick_run(&a, lo, hi, pc, &a.id)) {
            next = hi;
            continue;
        }
        bool unsure = false, two = word % 8 == 0 && word >= addr && word + 8 <= end;
        next = word + 4;
        if (hit_word(t, word, need, plane, &unsure) ||
            (!dh_mask_is_full(need) && dh_parts_has(t, word, need, write)))
            continue;
        if (dh_id_is_none(a.id))
            a.id = dh_step_id(t, piece ? piece : size, kind, pc);
        if (dh_id_is_none(a.id))
            return;
        if (two)
            next = word + 8; /* what is stored to both is checked for both */
        if (own && own_words(t, word, two, need, write, a.id))
            continue;
        struct dh_recheck *r = dh_recheck_word(t, kind, word, two, need);
        if (!unsure && (two ? quick_pair(&a, word) : quick_word(&a, word, need))) {
            if (!write)
                dh_unsampled_show(word, next - word);
            dh_recheck_end(r);
            continue;
        }
        uptr from = word < addr ? addr : word, to = next < end ? next : end;
        if (unsure && dh_engine_same_epoch(t, from, to - from, kind)) {
            dh_recheck_end(r);
            continue;
        }
        if (dh_exception_before(&a)) {
            dh_recheck_drop(r);
            break;
        }
        dh_engine_words(&a, from, to);
        dh_recheck_end(r);
    }
}

/* Any alignment, a few words. */
static DH_NOINLINE void missed_words(struct dh_thread *t, uptr addr, u32 size, u32 kind, const void *pc)
{
    if (DH_UNLIKELY(dh_tap != NULL)) { /* not in sink.h: this is where inlined checks arrive */
        dh_tap_take(t, addr, size, kind, pc);
        return;
    }
    dh_rule(t, DH_COUNT_UNALIGNED);
    if (t->alone || !dh_thread_enter(t))
        return;
    if (DH_UNLIKELY(t->unsampled)) {
        struct dh_access_now a = {.t = t, .addr = addr, .size = size, .kind = kind};
        dh_unsampled_access(&a, pc);
    } else if (!dh_runtime_off) {
        dh_quick_words(t, addr, size, 0, kind, pc);
    }
    dh_thread_leave(t);
}

/* Declared aligned, but is not: the access crosses the end of a word or of a pair of words. Two cells that
 * are not an aligned pair must not be exchanged as one: if they straddle a cache line, the processor locks
 * the whole bus. Two pairs may lie in two blocks, each with marks of its own (touched.h). */
DH_INLINE bool crosses(uptr addr, u32 size)
{
    if (size < 4)
        return (addr & 3) + size > 4;
    return (addr & (size < 8 ? 3 : 7)) != 0 ||
           (size > 8 && (addr ^ (addr + size - 1)) >> DH_TOUCHED_SHIFT != 0);
}

/* The most common misses, for a thread that is not yet in the runtime. False: not done, and nothing
 * changed. */
DH_INLINE bool own_access(struct dh_thread *t, uptr addr, u32 size, u32 kind, const void *pc)
{
    const u32 marks = kind == DH_WRITE ? t->marks_write : t->marks_read;
    const dh_mask_t mask = dh_mask_aligned(addr, size);
    if (DH_UNLIKELY(t->closed || t->alone || (addr & (size - 1))))
        return false;
    t->in_rt = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    /* Check both only inside the runtime: a thread that changes them waits until all others are outside. */
    bool done = dh_pending_may(t) && t->gen == dh_collect_gen && (dh_touched_mark(addr) & marks) == marks;
    dh_id_t id = done ? dh_step_id(t, size, kind, pc) : DH_ID_NONE;
    done = !dh_id_is_none(id) && own_words(t, addr & ~(uptr)3, size == 8, mask, kind == DH_WRITE, id);
    dh_thread_leave(t);
    return done;
}

/* The same for part of a word, where the inlined check cannot tell whether there is anything to do. */
DH_INLINE bool own_part(struct dh_thread *t, uptr addr, u32 size, u32 kind, const void *pc)
{
    return dh_parts_has(t, addr & ~(uptr)3, dh_mask_aligned(addr, size), kind == DH_WRITE) ||
           own_access(t, addr, size, kind, pc);
}

/* Accesses are aligned: they cover whole words, or part of one. C demands it, but the machine also executes
 * unaligned accesses, and then we check the bytes that it touches. */
DH_INLINE void missed(const volatile void *where, u32 size, u32 kind, const void *pc)
{
    struct dh_thread *t = __dh_hot.self;
    enum dh_plane plane = kind == DH_WRITE ? DH_PLANE_WRITE : DH_PLANE_READ;
    uptr addr = (uptr)where;
    if (!t || ((size == 4 || size == 8) && own_access(t, addr, size, kind, pc)))
        return;
    if (DH_UNLIKELY(dh_tap != NULL)) { /* not in sink.h: this is where inlined checks arrive */
        dh_tap_take(t, addr, size, kind, pc);
        return;
    }
    if (DH_UNLIKELY(crosses(addr, size))) {
        missed_words(t, addr, size, kind, pc);
        return;
    }
    /* For large data this cache line is as far away as the one the inlined check has just waited for. */
    __builtin_prefetch(dh_shadow(addr, kind == DH_WRITE ? DH_PLANE_READ : DH_PLANE_WRITE), 1);
    dh_mask_t need = dh_mask_aligned(addr, size);
    bool unsure = false, hit = true;
    for (u32 at = 0; at < size && hit; at += 4)
        hit = hit_word(t, (addr & ~(uptr)3) + at, need, plane, &unsure);
    if (hit)
        dh_rule(t, kind == DH_WRITE ? DH_COUNT_WRITE_SAME_EPOCH : DH_COUNT_READ_SAME_EPOCH);
    if (hit || t->alone || (size < 4 && own_part(t, addr, size, kind, pc)) || !dh_thread_enter(t))
        return;
    struct dh_access_now a = {.t = t, .addr = addr, .size = size, .kind = kind};
    if (DH_UNLIKELY(t->unsampled)) {
        dh_unsampled_access(&a, pc);
        dh_thread_leave(t);
        return;
    }
    bool on =
        !dh_runtime_off && dh_touched_note_within(addr, kind == DH_WRITE ? t->marks_write : t->marks_read);
    bool done = true, again = unsure; /* may it be known already? */
    struct dh_recheck *r = on ? dh_recheck_range(t, kind, addr, size, size, 1) : NULL;
    if (on && unsure)
        done = kind == DH_READ && quick_in_place(t, addr, size, need, pc, &again);
    else if (on)
        a.id = dh_step_id(t, size, kind, pc);
    if (!dh_id_is_none(a.id) && size <= 4)
        done = quick_word(&a, addr & ~(uptr)3, need);
    for (u32 at = 0; !dh_id_is_none(a.id) && done && size > 4 && at < size; at += 8)
        done = quick_pair(&a, addr + at);
    if (done)
        dh_rule(t, kind == DH_WRITE ? DH_COUNT_WRITE_EXCLUSIVE
                   : unsure         ? DH_COUNT_READ_SHARED
                                    : DH_COUNT_READ_EXCLUSIVE);
    if (DH_UNLIKELY(!done))
        rest(t, addr, size, kind, pc, again);
    else if (on && kind == DH_READ)
        dh_unsampled_show(addr, size);
    dh_recheck_end(r);
    dh_thread_leave(t);
}

/* For unwind.c: size 1 to 16, a power of two. */
void dh_quick_access(const volatile void *p, u32 size, u32 kind, const void *pc)
{
    missed(p, size, kind, pc);
}

DH_PRESERVE void __dh_slow_read_n(const volatile void *p, u64 n)
{
    if (n > 64)
        dh_range_from_code(p, n, 0, DH_READ, __builtin_return_address(0));
    else if (__dh_hot.self)
        missed_words(__dh_hot.self, (uptr)p, (u32)n, DH_READ, __builtin_return_address(0));
}

DH_PRESERVE void __dh_slow_write_n(const volatile void *p, u64 n)
{
    if (n > 64)
        dh_range_from_code(p, n, 0, DH_WRITE, __builtin_return_address(0));
    else if (__dh_hot.self)
        missed_words(__dh_hot.self, (uptr)p, (u32)n, DH_WRITE, __builtin_return_address(0));
}

/* Read-shared data: every cell of the access names the same history, known to contain this epoch. The only
 * case here that is as frequent as hits of the inlined check, so it must stay this cheap. */
DH_INLINE bool hit_shared(const volatile void *p, u32 size)
{
    const struct dh_thread *t = __dh_hot.self;
    const dh_cell_t *r = (const dh_cell_t *)dh_plane_of((uptr)p, DH_PLANE_READ);
    if (DH_UNLIKELY(crosses((uptr)p, size)))
        return false;
    if (t && DH_UNLIKELY(t->unsampled))
        return dh_unsampled_read_is_known(t, (uptr)p, size);
    dh_cell_t c = dh_cell_load(r);
    if (!t || !dh_cell_is_history(c))
        return false;
    for (u32 i = 1; i < size / 4; i++)
        if (!dh_cell_eq(dh_cell_load(r + i), c))
            return false;
    return dh_step_is_mine(t, c) && t->gen == dh_collect_gen && dh_rule_yes(t, DH_COUNT_READ_SAME_EPOCH);
}

#define SLOW(name, size, kind, known)                                                      \
    static DH_NOINLINE DH_PRESERVE void name##size(const volatile void *p, const void *pc) \
    {                                                                                      \
        missed(p, size, kind, pc);                                                         \
    }                                                                                      \
    DH_PRESERVE void __dh_slow_##name##size(const volatile void *p)                        \
    {                                                                                      \
        if (!(known))                                                                      \
            name##size(p, __builtin_return_address(0));                                    \
    }

SLOW(read, 1, DH_READ, false)
SLOW(read, 2, DH_READ, false)
SLOW(read, 4, DH_READ, hit_shared(p, 4))
SLOW(read, 8, DH_READ, hit_shared(p, 8))
SLOW(read, 16, DH_READ, hit_shared(p, 16))
SLOW(write, 1, DH_WRITE, false)
SLOW(write, 2, DH_WRITE, false)
SLOW(write, 4, DH_WRITE, false)
SLOW(write, 8, DH_WRITE, false)
SLOW(write, 16, DH_WRITE, false)
