/*
 * step.c - what one access does to one cell: the rules of FastTrack's figure 3, on bytes.
 *
 * A cell is a set of accesses with byte masks. On the bytes an access touches:
 *
 *   plain write   the write cell keeps nothing older, the read cell becomes this access too (a write stands
 * for a read: whatever races with the read races with the write), so that reading back what one just wrote
 * hits the inlined check plain read    in the read cell it replaces every access that happened before it and
 * stands beside the others ([READ EXCLUSIVE], [READ SHARE], [READ SHARED]) atomic        replaces atomic
 * accesses that happened before it and stands beside everything else: a plain access must stay, since it
 * races with atomic ones that this one does not race with
 *
 * Bytes that are not touched keep their accesses. Departures from the paper: several concurrent atomic
 * writes are kept, not one; after a race the cell goes on as if the access had been ordered.
 */
#include <string.h>

#include "base/pool.h"
#include "runtime/engine.h"
#include "runtime/init.h"
#include "runtime/report.h"

enum { INLINE_ENTRIES = 62 };

/* ---- Identity ---- */

/* Ids of one kind of block; see struct dh_thread. */
static bool refill(struct dh_thread *t, bool special)
{
    u32 *first = special ? &t->special_first : &t->id_first;
    u32 *size = special ? &t->special_size : &t->id_size;
    u32 want = special ? 1 : t->want_blocks, got;
    bool same_epoch = *size && __dh_hot.count == *size;
    if (*size)
        dh_ids_retire(*first, *size);
    *first = dh_ids_take(want, &got);
    *size = got;
    if (dh_ids_want_collection())
        t->want_collect = true;
    if (special) {
        t->special_next = t->special_floor = *first;
        t->special_end = *first + got;
    } else {
        /* An epoch that ate a whole run of blocks gets a longer one: cells named by the earlier run are no
         * longer hit by the inlined check. */
        t->want_blocks = same_epoch && t->want_blocks < 64 ? t->want_blocks * 2 : 2;
        t->id_next = *first;
        t->id_end = *first + got;
        __dh_hot.base = dh_cell_make(*first, DH_MASK_FULL);
        __dh_hot.count = 0;
    }
    if (!got)
        dh_count(DH_COUNT_LOST_IDS);
    return got != 0;
}

/* The size as a record holds it. */
static u32 size_code(size_t size)
{
    return size && size <= 16 && !(size & (size - 1)) ? 1 + (u32)__builtin_ctzll(size) : 0;
}

static u32 id_new(struct dh_thread *t, u32 kind, u32 ctx, size_t size)
{
    bool special = (kind & (DH_ATOMIC | DH_FREE)) != 0;
    u32 *next = special ? &t->special_next : &t->id_next;
    if (*next == (special ? t->special_end : t->id_end) && !refill(t, special))
        return 0;
    u32 id = (*next)++;
    *dh_id_rec(id) = (struct dh_access_rec){
        .clock = t->vc.c[t->slot],
        .ctx = ctx,
        .uid = t->uid,
        .size = size_code(size),
        .kind = kind,
        .slot = t->slot,
        .lockset = dh_thread_lockset(t),
    };
    *dh_id_block(id) = (struct dh_id_block){.slot = t->slot, .youngest = t->vc.c[t->slot]};
    __atomic_signal_fence(__ATOMIC_RELEASE);
    if (!special)
        __dh_hot.count++;
    return id;
}

/* Is id one of t's current epoch, of the kind's own numbers? */
static bool current(const struct dh_thread *t, u32 id, u32 kind)
{
    if (kind & (DH_ATOMIC | DH_FREE))
        return id - t->special_floor < t->special_next - t->special_floor;
    return dh_cell_make(id, DH_MASK_FULL) - __dh_hot.base < __dh_hot.count;
}

bool dh_step_identify(struct dh_access_now *a, const void *pc)
{
    struct dh_thread *t = a->t;
    struct dh_frame *top = __dh_hot.sp - 1;
    u32 fctx = top >= t->frames ? top->ctx : 0;
    if (!fctx)
        fctx = dh_thread_frame_ctx(t, top);
    /* Program counters differ in their low bits, contexts too; folding the next ones in is all it takes. */
    u32 mixed = (u32)(uptr)pc ^ (u32)((uptr)pc >> 7) ^ fctx * 5 ^ a->kind << 3;
    u32 i = mixed % (DH_IDC / DH_IDC_WAYS) * DH_IDC_WAYS;
    for (u32 way = 0; way < DH_IDC_WAYS; way++) {
        const __typeof__(t->idc[0]) *e = &t->idc[i + way];
        if (e->pc == pc && e->fctx == fctx && e->kind == a->kind && e->held_gen == t->held_gen &&
            current(t, e->id, a->kind)) {
            a->id = e->id;
            return true;
        }
    }
    u32 ctx = pc ? dh_thread_ctx(t, fctx, pc) : fctx;
    a->id = id_new(t, a->kind, ctx, a->piece ? a->piece : a->size);
    if (!a->id)
        return false;
    /* Ids follow each other, so their low bits take the ways in turn. */
    __typeof__(t->idc[0]) *e = &t->idc[i + a->id % DH_IDC_WAYS];
    e->pc = pc;
    e->fctx = fctx;
    e->kind = a->kind;
    e->held_gen = t->held_gen;
    e->id = a->id;
    return true;
}

/* ---- Order ---- */

static bool id_ordered(const struct dh_thread *t, u32 id)
{
    const struct dh_id_block *b = dh_id_block(id);
    if (DH_LIKELY(dh_vclock_get(&t->vc, b->slot) >= b->youngest))
        return true;
    const struct dh_access_rec *r = dh_id_rec(id);
    return dh_vclock_get(&t->vc, r->slot) >= r->clock;
}

bool dh_step_ordered_slow(struct dh_thread *t, u32 cell)
{
    if (!dh_cell_is_history(cell)) {
        if (!id_ordered(t, dh_cell_id(cell)))
            return false;
    } else {
        const struct dh_history *h = dh_history_get(cell);
        for (u32 i = 0; i < h->n; i++) {
            u32 e = __atomic_load_n(&h->cells[i], __ATOMIC_RELAXED);
            if (e && !id_ordered(t, dh_cell_id(e)))
                return false;
        }
        if (h->by_slot)
            return true; /* for now */
    }
    t->ordered[dh_step_ordered_slot(cell)] = cell;
    return true;
}

/* ---- Change ---- */

/* Does access a, on bytes they share, make entry e superfluous in this plane? */
static bool replaces(const struct dh_access_now *a, u32 e, enum dh_plane plane)
{
    if (a->kind & DH_ATOMIC)
        return (dh_id_rec(dh_cell_id(e))->kind & DH_ATOMIC) && id_ordered(a->t, dh_cell_id(e));
    if ((a->kind & DH_WRITE) || plane == DH_PLANE_WRITE)
        return true;
    return id_ordered(a->t, dh_cell_id(e));
}

/* Entries of one thread's one epoch that differ only in context become one, with the newest's context: in
 * code that goes through memory byte by byte from many places, every word has its own mixture, and the
 * mixtures are what costs. What races is not changed, only which of the accesses to these four bytes a report
 * shows. */
static u32 merge_epochs(u32 *e, u32 n)
{
    for (u32 i = 0; i < n; i++) {
        const struct dh_access_rec *a = dh_id_rec(dh_cell_id(e[i]));
        for (u32 k = i + 1; k < n; k++) {
            const struct dh_access_rec *b = dh_id_rec(dh_cell_id(e[k]));
            if (a->clock == b->clock && a->slot == b->slot &&
                ((a->kind ^ b->kind) & (DH_ATOMIC | DH_FREE)) == 0) {
                e[k] |= dh_cell_make(0, dh_cell_mask(e[i]));
                e[i] = e[--n];
                i--;
                break;
            }
        }
    }
    return n;
}

static u32 combine(const struct dh_access_now *a, u32 old, u32 mask, enum dh_plane plane)
{
    u32 few[INLINE_ENTRIES + 2];
    const struct dh_history *h = dh_cell_is_history(old) ? dh_history_get(old) : NULL;
    u32 n = h ? h->n : old ? 1 : 0, m = 0;
    u32 *out = n <= INLINE_ENTRIES ? few : dh_pool_alloc((n + 1) * sizeof(u32));
    if (!out) {
        dh_runtime_degrade("no memory for access histories");
        return old;
    }
    for (u32 i = 0; i < n; i++) {
        u32 e = h ? __atomic_load_n(&h->cells[i], __ATOMIC_RELAXED) : old;
        u32 keep = dh_cell_mask(e);
        if ((keep & mask) && replaces(a, e, plane))
            keep &= ~mask;
        if (keep)
            out[m++] = dh_cell_make(dh_cell_id(e), keep);
    }
    out[m++] = dh_cell_make(a->id, mask);
    if (m > 1 && dh_history_pressure())
        m = merge_epochs(out, m);
    if (dh_history_want_collection())
        a->t->want_collect = true;
    u32 cell;
    if (!dh_history_cell(out, m, h ? h->age + 1 : 0, &cell)) {
        dh_runtime_degrade("no memory for access histories");
        cell = old;
    }
    if (out != few)
        dh_pool_free(out, (n + 1) * sizeof(u32));
    return cell;
}

u32 dh_step_cell(const struct dh_access_now *a, u32 old, u32 mask, enum dh_plane plane)
{
    u32 me = dh_cell_make(a->id, mask);
    if (old == 0)
        return me;
    /* More bytes of a word this access is already in; under pressure (merge_epochs), that this epoch is
     * already in. */
    if (dh_cell_id(old) == a->id && !dh_cell_is_history(old))
        return old | me;
    if (!(a->kind & (DH_ATOMIC | DH_FREE)) && dh_step_mine_simple(old) && dh_history_pressure())
        return old | dh_cell_make(0, mask);
    if (mask == DH_MASK_FULL && !(a->kind & DH_ATOMIC) &&
        ((a->kind & DH_WRITE) || dh_step_ordered(a->t, old)))
        return me;
    /* The usual atomic: the only access before it was atomic too, and has happened before. */
    if ((a->kind & DH_ATOMIC) && !dh_cell_is_history(old) && dh_cell_mask(old) == mask &&
        (dh_id_rec(dh_cell_id(old))->kind & DH_ATOMIC) && dh_step_ordered(a->t, old))
        return me;
    /* The result depends on the thread's clock as well; within an epoch a larger clock could only replace
     * more, so a remembered result is right but may keep what could go. */
    __typeof__(a->t->step[0]) *s =
        &a->t->step[((old * 0x9E3779B1u ^ me * 0x85EBCA6Bu) >> 20 ^ (u32)plane << 5 ^ me >> DH_ID_BITS) %
                    DH_STEP];
    if (s->old == old && s->me == me && s->plane == (u32)plane)
        return s->result;
    u32 result = combine(a, old, mask, plane);
    if (dh_cell_is_history(old) && dh_history_get(old)->by_slot)
        return result; /* right for this moment only */
    s->old = old;
    s->me = me;
    s->plane = (u32)plane;
    s->result = result;
    return result;
}

bool dh_step_in_place(const struct dh_access_now *a, u32 cell, u32 mask)
{
    struct dh_history *h = (struct dh_history *)dh_history_get(cell);
    if (!h->by_slot || a->t->slot >= h->n)
        return false;
    u32 *entry = &h->cells[a->t->slot], old = *entry;
    if (old && ((dh_cell_mask(old) & ~mask) || ((dh_id_rec(dh_cell_id(old))->kind ^ a->kind) & DH_ATOMIC)))
        return false;
    __atomic_exchange_n(entry, dh_cell_make(a->id, mask), __ATOMIC_SEQ_CST);
    return true;
}

/* ---- Races ---- */

static void check_entry(const struct dh_access_now *a, uptr word, u32 e, u32 mask)
{
    u32 id = dh_cell_id(e), common = dh_cell_mask(e) & mask;
    if (!common || id_ordered(a->t, id))
        return;
    const struct dh_access_rec *r = dh_id_rec(id);
    if ((r->kind & DH_ATOMIC) && (a->kind & DH_ATOMIC))
        return;
    dh_report_race(a, id, word + (u32)__builtin_ctz(dh_cell_mask(e)),
                   (u32)__builtin_popcount(dh_cell_mask(e)));
}

void dh_step_check(const struct dh_access_now *a, uptr word, u32 cell, u32 mask)
{
    if (!dh_cell_is_history(cell)) {
        check_entry(a, word, cell, mask);
        return;
    }
    const struct dh_history *h = dh_history_get(cell);
    for (u32 i = 0; i < h->n; i++)
        check_entry(a, word, __atomic_load_n(&h->cells[i], __ATOMIC_RELAXED), mask);
}
