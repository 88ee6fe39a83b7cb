/*
 * engine.h - shared by the files of the engine: quick.c (the usual miss), engine.c (single accesses), range.c
 * and stride.c (many bytes), atomic.c, copy.c (forgetting and copying), step.c (how a cell changes).
 */
#ifndef DH_RUNTIME_ENGINE_ENGINE_H
#define DH_RUNTIME_ENGINE_ENGINE_H

#include "runtime/shadow/history.h"
#include "runtime/shadow/split.h"
#include "runtime/shadow/touched.h"
#include "runtime/threads/thread.h"

/* One access being checked. */
struct dh_access_now {
    struct dh_thread *t;
    uptr addr; /* as the program gave it, for reports */
    size_t size;
    u32 piece; /* of a loop's range: the size of one access; 0: it is one access */
    u32 kind;  /* enum dh_access */
    dh_id_t id;
};

DH_INLINE dh_cell_t *dh_shadow(uptr addr, enum dh_plane plane)
{
    return (dh_cell_t *)dh_plane_of(addr & ~(uptr)3, plane);
}

/* The same in plane n, of all planes (abi.h). */
DH_INLINE dh_cell_t *dh_shadow_nth(uptr addr, u32 n)
{
    return (dh_cell_t *)dh_plane_nth(addr & ~(uptr)3, n);
}

/* Classes other than t's own that have read near addr, as bits: a write checks their planes too. Call it
 * after publishing the write: a reader that marks its class later sees the write. */
DH_INLINE u32 dh_engine_readers(const struct dh_thread *t, uptr addr)
{
    return dh_touched_mark(addr) & DH_TOUCHED_READERS & ~(1u << t->class);
}

/* ---- step.c ---- */

/* Fill in id: the number of this access in the thread's current epoch. pc NULL: the access is the
 * call on top of the shadow stack. False: the thread is alone, or there is no shadow, no id or no
 * memory (counted). */
bool dh_step_identify(struct dh_access_now *a, const void *pc);

/* The set of the idc table for this access. Program counters and contexts differ in their low bits, so
 * folding in the next few bits is enough of a hash. */
DH_INLINE struct dh_idc *dh_step_idc_set(const struct dh_thread *t, const void *pc, dh_ctx_t fctx, u32 kind)
{
    u32 mixed = (u32)(uptr)pc ^ (u32)((uptr)pc >> 7) ^ dh_ctx_raw(fctx) * 5 ^ kind << 3;
    return &t->idcs.at[mixed * DH_IDC_WAYS & t->idcs.mask];
}

/* Prepare t->ids.ready, from which each further id of this epoch and lock set is copied. False: it takes
 * more. */
bool dh_step_ready(struct dh_thread *t);

/* The entry of this access, from any epoch; NULL: none in that set. */
DH_INLINE struct dh_idc *dh_step_idc_find(struct dh_idc *set, dh_ctx_t fctx, u32 kind, const void *pc)
{
    u64 pc_kind = (uptr)pc | (u64)kind << 56;
    for (u32 way = 0; way < DH_IDC_WAYS; way++)
        if (set[way].pc_kind == pc_kind && dh_ctx_eq(set[way].fctx, fctx))
            return &set[way];
    return NULL;
}

/* A new id for this access. `entry` is its entry, or NULL if it has yet to get one in `set`. */
dh_id_t dh_step_new_id(struct dh_thread *t, struct dh_idc *set, struct dh_idc *entry, dh_ctx_t fctx,
                       size_t size, u32 kind, const void *pc);

/* What dh_step_identify does; inlines the usual case of a plain access, the next id of the current block. */
DH_INLINE dh_id_t dh_step_id(struct dh_thread *t, size_t size, u32 kind, const void *pc)
{
    struct dh_frame *top = __dh_hot.sp - 1;
    dh_ctx_t fctx = top >= t->frames ? dh_ctx_of_frame(top) : DH_CTX_NONE;
    if (DH_UNLIKELY(dh_ctx_is_none(fctx)))
        fctx = dh_thread_frame_ctx(t, top);
    struct dh_idc *set = dh_step_idc_set(t, pc, fctx, kind), *e = dh_step_idc_find(set, fctx, kind, pc);
    if (e && e->stamp == t->stamp)
        return e->id;
    dh_id_t id = t->ids.plain.next;
    if (!e || (kind & (DH_ATOMIC | DH_FREE)) || (t->ids.ready_stamp != t->stamp && !dh_step_ready(t)) ||
        dh_id_eq(id, t->ids.ready_end))
        return dh_step_new_id(t, set, e, fctx, size, kind, pc);
    struct dh_id_rec r = t->ids.ready;
    r.ctx = dh_ctx_raw(e->ctx);
    r.kind = kind;
    r.size = dh_id_size_code(size);
    DH_ASSERT(t->in_rt && dh_id_less(t->ids.plain.first, id) && dh_id_less(id, t->ids.plain.end) &&
              dh_ids_is_owned(id));
    *dh_id_rec(id) = r;
    __atomic_signal_fence(__ATOMIC_RELEASE);
    t->ids.plain.next = dh_id_plus(id, 1);
    t->ids.made++;
    e->id = id;
    e->stamp = t->stamp;
    return id;
}

/* One access, of this thread's current epoch? */
DH_INLINE bool dh_step_mine_simple(dh_cell_t cell)
{
    return dh_cell_is_simple(cell) && dh_cell_distance(dh_cell_whole(cell), __dh_hot.base) < __dh_hot.span;
}

/* Did this access happen before t's current epoch? Usually the block's youngest access did, so check that
 * first. */
DH_INLINE bool dh_step_before(const struct dh_thread *t, dh_id_t id)
{
    const struct dh_id_block *b = dh_id_block(id);
    if (DH_LIKELY(dh_vclock_get(&t->vc, b->slot) >= b->youngest))
        return true;
    return dh_vclock_get(&t->vc, b->slot) >= dh_id_clock(id);
}

bool dh_step_ordered_slow(struct dh_thread *t, dh_cell_t cell);

_Static_assert(DH_ORDERED == 1 << (32 - 23) && DH_MINE == 1 << (32 - 24),
               "the shifts below leave their indices");

DH_INLINE u32 dh_step_ordered_slot(dh_cell_t cell)
{
    return (dh_cell_raw(cell) * 0x9E3779B1u) >> 23; /* 9 bits: DH_ORDERED */
}

/* Did everything in the cell happen before t's current epoch? Cached per cell: clocks only grow, so a yes
 * stays true. */
DH_INLINE bool dh_step_ordered(struct dh_thread *t, dh_cell_t cell)
{
    return dh_cell_is_none(cell) || dh_step_mine_simple(cell) ||
           dh_cell_eq(t->memo.ordered[dh_step_ordered_slot(cell)], cell) || dh_step_ordered_slow(t, cell);
}

/* Cache of which bytes of a history cell this thread has accessed in its current epoch: the cell, then the
 * epoch's first id with the byte mask above it. One table for both planes: a history with a read in it is
 * never in the write plane, and a write stands for a read. One 64-bit word, so that a signal handler on this
 * thread never leaves half of it. */
DH_INLINE u32 dh_step_mine_slot(dh_cell_t cell)
{
    return (dh_cell_raw(cell) * 0x9E3779B1u) >> 24; /* 8 bits: DH_MINE */
}

/* The first id of this thread's current epoch, whether or not it has been used yet. */
DH_INLINE dh_id_t dh_step_epoch(void)
{
    return dh_cell_id(dh_cell_from(__dh_hot.base));
}

DH_INLINE dh_mask_t dh_step_mine_known(const struct dh_thread *t, dh_cell_t cell)
{
    dh_pair_t e = t->memo.mine[dh_step_mine_slot(cell)];
    bool valid = dh_cell_eq(dh_pair_lo(e), cell) && dh_id_eq(dh_cell_id(dh_pair_hi(e)), dh_step_epoch());
    return valid ? dh_cell_mask(dh_pair_hi(e)) : DH_MASK_NONE;
}

DH_INLINE bool dh_step_is_mine(const struct dh_thread *t, dh_cell_t cell)
{
    return dh_cell_is_history(cell) && dh_mask_is_full(dh_step_mine_known(t, cell));
}

DH_INLINE void dh_step_set_mine(struct dh_thread *t, dh_cell_t cell, dh_mask_t mask)
{
    if (dh_cell_is_history(cell))
        t->memo.mine[dh_step_mine_slot(cell)] = dh_pair_make(cell, dh_cell_make(dh_step_epoch(), mask));
}

/* The bytes of a non-split cell that this thread has accessed plainly in its current epoch. Inside the
 * runtime only. */
DH_INLINE dh_mask_t dh_step_mine_mask(dh_cell_t cell)
{
    const u32 base = __dh_hot.base, span = __dh_hot.span;
    if (dh_cell_is_simple(cell))
        return dh_cell_distance(dh_cell_whole(cell), base) < span ? dh_cell_mask(cell) : DH_MASK_NONE;
    const struct dh_history *h = dh_history_get(cell);
    dh_mask_t mask = DH_MASK_NONE;
    if (h->by_slot) {
        const dh_cell_t *e = dh_history_entry(h, __dh_hot.self->slot);
        return e && dh_cell_distance(dh_cell_whole(*e), base) < span ? dh_cell_mask(*e) : DH_MASK_NONE;
    }
    for (u32 i = 0; i < h->n; i++)
        if (dh_cell_distance(dh_cell_whole(h->cells[i]), base) < span)
            mask = dh_mask_or(mask, dh_cell_mask(h->cells[i]));
    return mask;
}

/* May access id, of t's current epoch and of this kind, also stand for what cell `old` holds? Yes if it is
 * the same access, or one of the same epoch by a thread with many such words (split.h). */
DH_INLINE bool dh_step_describes(const struct dh_thread *t, dh_cell_t old, dh_id_t id, u32 kind)
{
    return dh_cell_is_simple(old) &&
           (dh_id_eq(dh_cell_id(old), id) ||
            (!(kind & (DH_ATOMIC | DH_FREE)) && dh_step_mine_simple(old) && dh_split_blurs(t)));
}

/* The cell after a plain access, where it held at most one access, which happened before, and where one
 * access and a mask can express the result. None: it takes more. `beside`: the write cell for a read, none
 * for a write. */
DH_INLINE dh_cell_t dh_step_part(const struct dh_thread *t, dh_cell_t old, dh_cell_t beside, dh_id_t id,
                                 dh_mask_t mask)
{
    const dh_cell_t me = dh_cell_make(id, mask);
    const dh_mask_t left = dh_mask_minus(dh_cell_mask(old), mask);
    if (!dh_cell_is_simple(old))
        return DH_CELL_NONE;
    if (dh_mask_is_none(left))
        return me;
    if (dh_step_describes(t, old, id, DH_READ))
        return dh_cell_with(me, dh_cell_mask(old));
    /* What is left may be a write that stands for a read, and the write cell has it too: so the first reads
     * of odd parts of a buffer that was filled before need no mixed cells. */
    bool known = dh_cell_is_simple(beside) && dh_id_eq(dh_cell_id(old), dh_cell_id(beside));
    return known && dh_mask_covers(dh_cell_mask(beside), left) ? me : DH_CELL_NONE;
}

/* A write stands for a read: what the non-split read cell `other` becomes after a plain write has left the
 * single access `cell` in the write plane. Unchanged if it would take more than one access and a mask. */
DH_INLINE dh_cell_t dh_step_stand(dh_cell_t other, dh_cell_t cell)
{
    DH_ASSERT(dh_cell_is_simple(cell) && !dh_cell_is_split(other));
    if (dh_mask_is_full(dh_cell_mask(cell)) ||
        (dh_cell_is_simple(other) && dh_mask_covers(dh_cell_mask(cell), dh_cell_mask(other))))
        return cell;
    return dh_cell_is_simple(other) && dh_id_eq(dh_cell_id(other), dh_cell_id(cell))
               ? dh_cell_join(other, cell)
               : other;
}

/* Byte k of a cell that holds one access, or none, as a cell of its own (split.h). */
DH_INLINE dh_cell_t dh_step_one_byte(dh_cell_t cell, u32 k)
{
    DH_ASSERT(dh_cell_is_simple(cell));
    return dh_mask_has(dh_cell_mask(cell), k) ? dh_cell_whole(cell) : DH_CELL_NONE;
}

/* Can access a, which is in one of the four bytes, stand for all of them? Exactly if it is in all of them;
 * else as in dh_step_describes. */
DH_INLINE bool dh_step_collapses(const struct dh_access_now *a, const struct dh_bytes *b)
{
    bool all = true;
    for (u32 k = 0; k < 4 && all; k++)
        all = !dh_cell_is_none(b->cell[k]) && dh_step_describes(a->t, b->cell[k], a->id, a->kind);
    return all;
}

/* The cell of `plane` after access a to the bytes of mask. `old` is what it held, not split. */
dh_cell_t dh_step_cell(const struct dh_access_now *a, dh_cell_t old, dh_mask_t mask, enum dh_plane plane);
/* The same for a split cell, after an access to all four bytes. */
dh_cell_t dh_step_whole(const struct dh_access_now *a, const struct dh_bytes *old, enum dh_plane plane);
/* Should access a to the bytes of mask split this cell? If not, dh_step_cell has a better answer. */
bool dh_step_splits(const struct dh_access_now *a, dh_cell_t old, dh_mask_t mask);
/* The cell of byte k alone. False: no memory. */
bool dh_step_byte(dh_cell_t cell, u32 k, dh_cell_t *ret);
/* The cell with only what `cell` (or `bytes`, if it is split) says about the bytes of mask. False: no
 * memory. */
bool dh_step_keep(dh_cell_t cell, const struct dh_bytes *bytes, dh_mask_t mask, dh_cell_t *ret);

/* Put access a into a by_slot history in place of its thread's earlier entry; false: it does not fit, use
 * dh_step_cell. A full fence. The caller checks that the cell still holds this history. */
bool dh_step_in_place(const struct dh_access_now *a, dh_cell_t cell, dh_mask_t mask);

/* A cell knows the part [*addr, *addr + *size) of access `id`: extend that to the whole access, as far as it
 * can be determined. For races that are reported, not for their repetitions. */
void dh_step_widen(dh_id_t id, uptr *addr, u32 *size);
/* Is there an entry in the cell, not split, that races with a on the bytes of mask? */
bool dh_step_races(const struct dh_access_now *a, dh_cell_t cell, dh_mask_t mask);
/* Report every entry of the cell, not split, that races with a on the bytes of mask. */
void dh_step_check(const struct dh_access_now *a, uptr word, dh_cell_t cell, dh_mask_t mask);
/* The same for a split one. */
void dh_step_check_bytes(const struct dh_access_now *a, uptr word, const struct dh_bytes *bytes,
                         dh_mask_t mask);

/* ---- engine.c ---- */

/* Access a, of up to 64 bytes and not identified yet, made at pc (NULL: by the function on top of the shadow
 * stack): check and record it, or defer it if it has to be raised first (exception.h). */
void dh_engine_access(struct dh_access_now *a, const void *pc);
/* The use of a lock, or of another synchronisation object, at p: check an atomic read of its first n bytes,
 * as far as they are in one word, without recording it. */
void dh_engine_check(struct dh_thread *t, const volatile void *p, size_t n);
/* Is it no race if the use of a lock at this address follows this access and nothing orders the two? */
bool dh_engine_excuses(uptr lock, dh_id_t earlier);
/* Has t made such a plain access to all these bytes in its current epoch already? For small sizes. */
bool dh_engine_same_epoch(struct dh_thread *t, uptr addr, size_t size, u32 kind);
/* The part [addr, end) of access a, up to 64 bytes, any alignment. */
void dh_engine_words(const struct dh_access_now *a, uptr addr, uptr end);
/* The bytes of mask of one word, as part of access a. */
void dh_engine_word(const struct dh_access_now *a, uptr word, dh_mask_t mask);
/* The same for a range access that has announced itself. */
void dh_engine_word_announced(const struct dh_access_now *a, uptr word, dh_mask_t mask);

/* Read a, published long ago: check it against a word of the write plane, on the bytes of mask. */
void dh_engine_look_again(const struct dh_access_now *a, uptr word, dh_mask_t mask);
/* Write a, published: check it against what these classes have read of a word. */
void dh_engine_look_beside(const struct dh_access_now *a, uptr word, u32 classes);

/* A plain write to the words of [lo, hi) has raced: make all threads that have read there see it again. */
void dh_engine_forget_beside(const struct dh_access_now *a, uptr lo, uptr hi);

/* ---- copy.c ---- */

/* Forget all history of [p, p + n): the memory is new. Fast for large ranges. t may be NULL. */
void dh_engine_clear(struct dh_thread *t, const volatile void *p, size_t n);
/* The history of dst becomes that of src. May overlap. */
void dh_engine_copy(struct dh_thread *t, volatile void *dst, const volatile void *src, size_t n);
/* The same for memory that other threads may be accessing; cleared memory will soon be in use again. */
void dh_engine_clear_object(struct dh_thread *t, uptr p, size_t n);
void dh_engine_copy_object(struct dh_thread *t, uptr dst, uptr src, size_t n);
/* Forget what was recorded below `top`, on a stack that begins at lo. Both are multiples of 8. */
void dh_engine_clear_stack(uptr lo, uptr top);

/* ---- quick.c ---- */

/* An access of instrumented code, called from the slow paths of fastpath.c. */
void dh_quick_access(const volatile void *p, u32 size, u32 kind, const void *pc);
/* A plain access to at most 64 bytes, of any alignment, inside the runtime; piece as in struct dh_access_now.
 */
void dh_quick_words(struct dh_thread *t, uptr addr, u32 size, u32 piece, u32 kind, const void *pc);
/* Plain write `id` of one or two whole words was published: check it, and publish it again if need be. */
void dh_quick_look(struct dh_thread *t, uptr word, bool two, dh_id_t id);
/* Plain access a, which is just the bytes of mask of one word. */
void dh_quick_part(const struct dh_access_now *a, uptr word, dh_mask_t mask);

/* ---- atomic.c ---- */

/* The atomic operation a thread is at, between pre and post. */
struct dh_atomic_now {
    uptr addr;
    u32 size; /* 0: none */
    const void *pc;
    struct dh_sync *object;      /* locked; NULL: none */
    struct dh_sync_shard *shard; /* locked; NULL: none */
    bool changing;               /* the object's version is odd */
    bool trusting;               /* a load that is valid only if the object keeps this version */
    u32 version;
};

/* __dh_atomic_pre for an operation at pc. */
void *dh_atomic_begin(const volatile void *p, u32 size, u32 order, u32 kind, const void *pc);

/* The operation faulted and one of the program's signal handlers runs, which may leave by siglongjmp: release
 * what the operation holds. If the handler returns, the operation is retried: resume it. */
struct dh_atomic_now dh_atomic_suspend(void);
void dh_atomic_resume(const struct dh_atomic_now *was);

/* ---- range.c ---- */

/* Bit i: slot i holds a range access under way. */
extern u64 dh_ranges_active;
/*
 * Called between publishing an access as *p = cell and checking the other plane: is no range access under
 * way, and is the cell still in place? Only then is it certain that the two have seen each other. A range
 * access under way may have read our cell before we changed it. So may one that has just ended: then what it
 * stored is in the other plane, which is checked next, or in place of our cell. One that begins later finds
 * our cell.
 */
DH_INLINE bool dh_range_settled(const dh_cell_t *p, dh_cell_t cell)
{
    return __atomic_load_n(&dh_ranges_active, __ATOMIC_ACQUIRE) == 0 && dh_cell_eq(dh_cell_load(p), cell);
}
/* [lo, hi) is changed with plain stores until dh_range_retract. Waits for ranges that overlap. */
u32 dh_range_announce(uptr lo, uptr hi);
/* The same for elements with gaps between them. Two with the same step conflict only where their elements
 * overlap. */
u32 dh_range_announce_stride(uptr lo, uptr step, u64 count, u32 size);
void dh_range_retract(u32 slot);
/* Wait until no range access that overlaps [lo, hi) is under way; true if there was one. */
bool dh_range_wait(uptr lo, uptr hi);
/* An access of instrumented code to n bytes. piece: as in struct dh_access_now. */
void dh_range_from_code(const volatile void *p, size_t n, u32 piece, u32 kind, const void *pc);
/* The same from inside the runtime, of one access (n may be 0). pc NULL: made by the function on top of the
 * shadow stack. */
void dh_range_access(struct dh_thread *t, const volatile void *p, size_t n, u32 kind, const void *pc);
void dh_range_each_lock(dh_lock_fn *fn);
void dh_range_fork_child(void);

#endif
