/*
 * step.c - what one access does to one cell: the rules of FastTrack's figure 3, on bytes.
 *
 * A cell is a set of accesses with byte masks. On the bytes an access touches:
 *
 *   plain write   the write cell keeps nothing older. The thread's own read cell becomes this access too, so
 *                 that reading back what one just wrote hits the inlined check: a write stands for a
 *                 read, since whatever races with the read races with the write
 *   plain read    in the read cell it replaces every access that happened before it and stands beside the
 *                 others ([READ EXCLUSIVE], [READ SHARE], [READ SHARED])
 *   atomic        replaces atomic accesses that happened before it and stands beside everything else: a
 *                 plain access must stay, since it races with atomic ones that this one does not race with
 *
 * Bytes that are not touched keep their accesses; where that takes more than one access and a mask, the cell
 * is split (split.h), and these rules hold for each byte's cell. Departures from the paper: several
 * concurrent atomic writes are kept, not one; after a race the cell is updated as if the access had been
 * ordered.
 */
#include <string.h>

#include "base/pool.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/parts.h"
#include "runtime/engine/recheck.h"
#include "runtime/engine/rules.h"
#include "runtime/init.h"
#include "runtime/report/report.h"

/* ---- Identity ---- */

/* Ids of one kind of block; see struct dh_id_source. */
static bool refill(struct dh_thread *t, bool special)
{
    struct dh_id_run *run = special ? &t->ids.special : &t->ids.plain;
    /* An epoch that has used many ids will use more, and the inlined check no longer hits cells with ids from
     * an earlier run of blocks: so the next run is long enough for several times as many. */
    const u32 least = 128, most = 16384;
    u32 ids = t->ids.made * 4, got;
    u32 want = special ? 1 : (ids < least ? least : ids < most ? ids : most) / DH_ID_BLOCK;
    dh_parts_flush(t); /* ids waiting there are in no cell yet, so their blocks must still be t's */
    t->stamp++;
    t->recorded = true;
    if (run->size)
        dh_ids_retire(run->first, run->size);
    dh_id_t first = dh_ids_take(want, &got);
    *run = (struct dh_id_run){.next = first, .end = dh_id_plus(first, got), .first = first, .size = got};
    if (dh_ids_want_collection())
        t->want_collect = true;
    if (special) {
        t->ids.special_floor = first;
    } else {
        if (dh_thread_records(t))
            dh_thread_set_hot(t, &__dh_hot);
        t->ids.made = 0;
    }
    if (!got)
        dh_runtime_count(DH_COUNT_LOST_IDS);
    return got != 0;
}

static dh_id_t id_new(struct dh_thread *t, u32 kind, dh_ctx_t ctx, size_t size)
{
    bool special = (kind & (DH_ATOMIC | DH_FREE)) != 0;
    struct dh_id_run *run = special ? &t->ids.special : &t->ids.plain;
    const struct dh_access_rec r = {
        .clock = dh_thread_epoch(t),
        .slot = t->slot,
        .uid = t->uid,
        .ctx = ctx,
        .lockset = t->locks.set_gen == t->locks.gen ? t->locks.set : dh_thread_lockset(t),
        .kind = kind,
        .size = dh_id_size_code(size),
    };
    while (dh_id_eq(run->next, run->end) || !dh_id_put(run->next, &r)) {
        if (!dh_id_eq(run->next, run->end))
            run->next = dh_id_align(run->next); /* the skipped ids are in no cell */
        else if (!refill(t, special))
            return DH_ID_NONE;
    }
    __atomic_signal_fence(__ATOMIC_RELEASE);
    if (!special) {
        t->ids.made++;
        t->ids.ready_stamp = t->stamp - 1; /* it may be another block */
    }
    dh_id_t id = run->next;
    run->next = dh_id_plus(id, 1);
    return id;
}

bool dh_step_ready(struct dh_thread *t)
{
    dh_id_t id = t->ids.plain.next;
    if (dh_id_eq(id, t->ids.plain.end) || dh_id_begins_block(id) ||
        !dh_id_next_like(id, dh_thread_epoch(t), t->uid, &t->ids.ready))
        return false;
    t->ids.ready.lockset =
        dh_lockset_raw(t->locks.set_gen == t->locks.gen ? t->locks.set : dh_thread_lockset(t));
    t->ids.ready_stamp = t->stamp;
    t->ids.ready_end = dh_id_align(id);
    return true;
}

/* An entry is about to be evicted. A program with many functions called from many places has more entries
 * than the table holds, and a lost entry costs an id, or another context lookup. */
static struct dh_idc *evict(struct dh_thread *t, struct dh_idc *set, const void *pc, dh_ctx_t fctx, u32 kind)
{
    const u32 size = t->idcs.mask + DH_IDC_WAYS;
    if (++t->idcs.evicted < 2 * size || size >= DH_IDC_MOST)
        return set;
    struct dh_idc *larger = dh_pool_alloc(2ul * size * sizeof(*larger));
    t->idcs.evicted = 0;
    if (!larger)
        return set;
    if (t->idcs.at != t->idc)
        dh_pool_free(t->idcs.at, size * sizeof(*larger));
    t->idcs.at = larger;
    t->idcs.mask = 2 * size - DH_IDC_WAYS;
    return dh_step_idc_set(t, pc, fctx, kind);
}

dh_id_t dh_step_new_id(struct dh_thread *t, struct dh_idc *set, struct dh_idc *entry, dh_ctx_t fctx,
                       size_t size, u32 kind, const void *pc)
{
    if (!entry) {
        dh_ctx_t ctx = pc ? dh_thread_leaf(t, fctx, pc) : fctx;
        if (set[DH_IDC_WAYS - 1].pc_kind)
            set = evict(t, set, pc, fctx, kind);
        for (u32 way = DH_IDC_WAYS - 1; way > 0; way--)
            set[way] = set[way - 1];
        entry = set;
        *entry = (struct dh_idc){.pc_kind = (uptr)pc | (u64)kind << 56, .fctx = fctx, .ctx = ctx};
    } /* else it is of an earlier epoch: the context is the same */
    entry->id = id_new(t, kind, entry->ctx, size);
    entry->stamp = dh_id_is_none(entry->id) ? t->stamp - 1 : t->stamp;
    return entry->id;
}

bool dh_step_identify(struct dh_access_now *a, const void *pc)
{
    if (a->t->alone ||
        !dh_touched_note(a->addr, a->size, a->kind & DH_WRITE ? a->t->marks_write : a->t->marks_read))
        return false;
    a->id = dh_step_id(a->t, a->piece ? a->piece : a->size, a->kind, pc);
    return !dh_id_is_none(a->id);
}

/* ---- Order ---- */

bool dh_step_ordered_slow(struct dh_thread *t, dh_cell_t cell)
{
    if (dh_cell_is_simple(cell)) {
        if (!dh_step_before(t, dh_cell_id(cell)))
            return false;
    } else {
        const struct dh_history *h = dh_history_get(cell);
        for (u32 i = h->first; i < h->n; i += h->step) {
            dh_cell_t e = dh_cell_load(&h->cells[i]);
            if (!dh_cell_is_none(e) && !dh_step_before(t, dh_cell_id(e)))
                return false;
        }
        if (h->by_slot)
            return true; /* for now */
    }
    t->memo.ordered[dh_step_ordered_slot(cell)] = cell;
    return true;
}

/* ---- Change ---- */

/* Does access a, on bytes they share, make entry e superfluous in this plane? */
static bool replaces(const struct dh_access_now *a, dh_cell_t e, enum dh_plane plane)
{
    if (a->kind & DH_ATOMIC)
        return (dh_id_kind(dh_cell_id(e)) & DH_ATOMIC) && dh_step_before(a->t, dh_cell_id(e));
    if ((a->kind & DH_WRITE) || plane == DH_PLANE_WRITE)
        return true;
    return dh_step_before(a->t, dh_cell_id(e));
}

/* Merge entries of the same thread and epoch that differ only in context, keeping the newest one's context.
 * This is for code that goes through memory byte by byte from many places (dh_split_blurs): every word has
 * its own mixture of accesses, and the mixtures are the main cost. The races found are the same, only a
 * report may show another of the accesses to these four bytes. */
static u32 merge_epochs(dh_cell_t *e, u32 n)
{
    for (u32 i = 0; i < n; i++) {
        dh_id_t a = dh_cell_id(e[i]);
        for (u32 k = i + 1; k < n; k++) {
            dh_id_t b = dh_cell_id(e[k]);
            if (dh_id_clock(a) == dh_id_clock(b) && dh_slot_eq(dh_id_slot(a), dh_id_slot(b)) &&
                ((dh_id_kind(a) ^ dh_id_kind(b)) & (DH_ATOMIC | DH_FREE)) == 0) {
                e[k] = dh_cell_with(e[k], dh_cell_mask(e[i]));
                e[i] = e[--n];
                i--;
                break;
            }
        }
    }
    return n;
}

/* The accesses of a cell, or of several; each id once. */
struct entries {
    u32 n, cap;
    dh_cell_t *e; /* few, or from the pool; NULL: no memory */
    dh_cell_t few[64];
};

static void entries_init(struct entries *l)
{
    l->n = 0;
    l->cap = DH_ARRAY_LEN(l->few);
    l->e = l->few;
}

static void entries_done(struct entries *l)
{
    if (l->e && l->e != l->few)
        dh_pool_free(l->e, l->cap * sizeof(*l->e));
}

static void entries_add(struct entries *l, dh_cell_t e)
{
    if (!l->e)
        return;
    for (u32 i = 0; i < l->n; i++) {
        if (dh_id_eq(dh_cell_id(l->e[i]), dh_cell_id(e))) {
            l->e[i] = dh_cell_join(l->e[i], e);
            return;
        }
    }
    if (l->n == l->cap) {
        dh_cell_t *more = dh_pool_alloc(l->cap * 2 * sizeof(*more));
        if (more)
            memcpy(more, l->e, l->n * sizeof(*more));
        entries_done(l);
        l->e = more;
        l->cap *= 2;
        if (!more)
            return;
    }
    l->e[l->n++] = e;
}

/* Those of a cell that is not split, on the bytes of mask. */
static void entries_cell(struct entries *l, dh_cell_t cell, dh_mask_t mask)
{
    const struct dh_history *h = dh_cell_is_history(cell) ? dh_history_get(cell) : NULL;
    u32 step = h ? h->step : 1;
    for (u32 i = h ? h->first : 0, n = h ? h->n : !dh_cell_is_none(cell); i < n; i += step) {
        dh_cell_t e = h ? dh_cell_load(&h->cells[i]) : cell;
        dh_mask_t common = dh_mask_and(dh_cell_mask(e), mask);
        if (!dh_mask_is_none(common))
            entries_add(l, dh_cell_make(dh_cell_id(e), common));
    }
}

static void entries_bytes(struct entries *l, const struct dh_bytes *bytes, dh_mask_t mask)
{
    for (u32 k = 0; k < 4; k++)
        if (dh_mask_has(mask, k))
            entries_cell(l, bytes->cell[k], dh_mask_byte(k));
}

/* The cell of these entries after access a; none: no memory. */
static dh_cell_t combine(const struct dh_access_now *a, struct entries *l, u32 age, dh_mask_t mask,
                         enum dh_plane plane)
{
    dh_cell_t cell = DH_CELL_NONE;
    u32 m = 0;
    for (u32 i = 0; l->e && i < l->n; i++) {
        dh_cell_t e = l->e[i];
        dh_mask_t keep = dh_cell_mask(e);
        if (dh_mask_meets(keep, mask) && replaces(a, e, plane))
            keep = dh_mask_minus(keep, mask);
        if (!dh_mask_is_none(keep))
            l->e[m++] = dh_cell_make(dh_cell_id(e), keep);
    }
    l->n = m;
    entries_add(l, dh_cell_make(a->id, mask));
    if (l->e && l->n > 1 && dh_history_pressure() && dh_split_blurs(a->t))
        l->n = merge_epochs(l->e, l->n);
    if (dh_history_want_collection())
        a->t->want_collect = true;
    if (!l->e || !dh_history_cell(l->e, l->n, age, &cell))
        dh_runtime_degrade("no memory for access histories");
    entries_done(l);
    return cell;
}

/*
 * A word whose bytes have different accesses becomes an interned history if the same mixtures recur, as in
 * byte tables written from few places: then the step table knows them, and many cells share one history.
 * Where nearly every word is different, creating histories costs far more than splitting the cell.
 * thread.mixing tells which case applies: hits in the step table count up, misses count down, and below zero
 * cells are split for a while before histories are tried again.
 */
enum { MIXING_MAX = 8192, MIXING_MISS = 3, MIXING_PAUSE = 64 << 10 };

static void mixture(struct dh_thread *t, dh_mask_t mask, bool known)
{
    if (dh_mask_is_full(mask))
        return;
    t->mixtures++;
    if (t->mixing < 0)
        return;
    if (known)
        t->mixing += t->mixing < MIXING_MAX;
    else if ((t->mixing -= MIXING_MISS) < 0)
        t->mixing = -MIXING_PAUSE;
}

static u32 step_slot(dh_cell_t old, dh_cell_t me, enum dh_plane plane)
{
    u32 from = dh_cell_raw(old) * 0x9E3779B1u, by = dh_cell_raw(me) * 0x85EBCA6Bu;
    return ((from ^ by) >> 20 ^ (u32)plane << 5 ^ dh_mask_raw(dh_cell_mask(me))) % DH_STEP;
}

dh_cell_t dh_step_cell(const struct dh_access_now *a, dh_cell_t old, dh_mask_t mask, enum dh_plane plane)
{
    dh_cell_t me = dh_cell_make(a->id, mask);
    DH_ASSERT(a->t->in_rt && !dh_mask_is_none(mask) && !dh_cell_is_split(old) && dh_valid_cell(old, plane) &&
              dh_valid_id(a->id));
    if (dh_cell_is_none(old) || dh_cell_is_reads(old))
        return me;
    /* More bytes of a word that already has this access; under pressure (merge_epochs), one of this epoch. */
    if (dh_step_describes(a->t, old, a->id, a->kind))
        return dh_cell_with(me, dh_cell_mask(old));
    bool covers =
        dh_mask_is_full(mask) || (dh_cell_is_simple(old) && dh_mask_covers(mask, dh_cell_mask(old)));
    if (covers && !(a->kind & DH_ATOMIC) && ((a->kind & DH_WRITE) || dh_step_ordered(a->t, old)))
        return me;
    /* The usual atomic: the only access before it was atomic too, and has happened before. */
    if (covers && (a->kind & DH_ATOMIC) && dh_cell_is_simple(old) &&
        (dh_id_kind(dh_cell_id(old)) & DH_ATOMIC) && dh_step_ordered(a->t, old))
        return me;
    /* The result also depends on the thread's clock; within an epoch a larger clock could only replace more,
     * so a cached result is right but may keep what could be dropped. */
    struct dh_known_step *s = &a->t->memo.step[step_slot(old, me, plane)];
    if (dh_cell_eq(s->old, old) && dh_cell_eq(s->me, me) && s->plane == (u32)plane) {
        DH_ASSERT(dh_valid_cell(s->result, plane));
        dh_rule(a->t, DH_COUNT_STEP_KNOWN);
        mixture(a->t, mask, true);
        return s->result;
    }
    dh_rule(a->t, DH_COUNT_STEP_NEW);
    mixture(a->t, mask, false);
    struct dh_history *h = dh_cell_is_history(old) ? (struct dh_history *)dh_history_get(old) : NULL;
    if (h && h->by_slot)
        __atomic_store_n(&h->closed, 1, __ATOMIC_SEQ_CST);
    struct entries l;
    entries_init(&l);
    entries_cell(&l, old, DH_MASK_FULL);
    dh_cell_t result = combine(a, &l, h ? h->age + 1 : 0, mask, plane);
    if (dh_cell_is_none(result))
        return old;
    DH_ASSERT(dh_valid_cell(result, plane));
    if (h && h->by_slot)
        return result; /* valid for this moment only */
    s->old = old;
    s->me = me;
    s->plane = (u32)plane;
    s->result = result;
    return result;
}

dh_cell_t dh_step_whole(const struct dh_access_now *a, const struct dh_bytes *old, enum dh_plane plane)
{
    dh_cell_t me = dh_cell_make(a->id, DH_MASK_FULL);
    if (!(a->kind & DH_ATOMIC)) {
        bool all = true;
        for (u32 k = 0; k < 4 && all && !(a->kind & DH_WRITE); k++)
            all = dh_step_ordered(a->t, old->cell[k]);
        if (all)
            return me;
    }
    struct entries l;
    entries_init(&l);
    entries_bytes(&l, old, DH_MASK_FULL);
    dh_cell_t cell = combine(a, &l, 0, DH_MASK_FULL, plane);
    return dh_cell_is_none(cell) ? me : cell;
}

bool dh_step_splits(const struct dh_access_now *a, dh_cell_t old, dh_mask_t mask)
{
    struct dh_thread *t = a->t;
    if (dh_mask_is_full(mask) || dh_cell_is_none(old) || dh_cell_is_reads(old) || t->mixing >= 0)
        return false;
    if (dh_cell_is_history(old) && dh_history_get(old)->by_slot)
        return false;
    if (dh_step_describes(t, old, a->id, a->kind) ||
        (dh_cell_is_simple(old) && dh_mask_covers(mask, dh_cell_mask(old))))
        return false;
    if (++t->mixing == 0)
        t->mixing = DH_MIXING_START;
    return true;
}

bool dh_step_byte(dh_cell_t cell, u32 k, dh_cell_t *ret)
{
    if (dh_cell_is_simple(cell)) {
        *ret = dh_step_one_byte(cell, k);
        return true;
    }
    struct entries l;
    entries_init(&l);
    entries_cell(&l, cell, dh_mask_byte(k));
    for (u32 i = 0; l.e && i < l.n; i++)
        l.e[i] = dh_cell_whole(l.e[i]);
    bool ok = l.e && dh_history_cell(l.e, l.n, 0, ret);
    entries_done(&l);
    return ok;
}

bool dh_step_keep(dh_cell_t cell, const struct dh_bytes *bytes, dh_mask_t mask, dh_cell_t *ret)
{
    struct entries l;
    entries_init(&l);
    if (dh_cell_is_split(cell))
        entries_bytes(&l, bytes, mask);
    else
        entries_cell(&l, cell, mask);
    bool ok = l.e && dh_history_cell(l.e, l.n, 0, ret);
    entries_done(&l);
    return ok;
}

bool dh_step_in_place(const struct dh_access_now *a, dh_cell_t cell, dh_mask_t mask)
{
    struct dh_history *h = (struct dh_history *)dh_history_get(cell);
    dh_cell_t *entry = h->by_slot ? dh_history_entry(h, a->t->slot) : NULL;
    if (!entry || (h->by_slot != DH_BY_SLOT_PLAIN && !(a->kind & DH_ATOMIC)))
        return false;
    dh_cell_t old = *entry;
    DH_ASSERT(a->t->in_rt && dh_valid_id(a->id) && dh_slot_eq(dh_id_slot(a->id), a->t->slot));
    if (!dh_cell_is_none(old) &&
        (!dh_mask_covers(mask, dh_cell_mask(old)) || ((dh_id_kind(dh_cell_id(old)) ^ a->kind) & DH_ATOMIC)))
        return false;
    dh_cell_exchange(entry, dh_cell_make(a->id, mask));
    return !__atomic_load_n(&h->closed, __ATOMIC_SEQ_CST);
}

/* ---- Races ---- */

/* The bytes of this word for which access `id` is still known. */
static dh_mask_t mask_of(uptr word, dh_id_t id, u32 plane)
{
    const dh_cell_t *p = dh_shadow_nth(word, plane);
    struct dh_bytes bytes;
    dh_cell_t cell = dh_cell_load(p);
    dh_mask_t mask = DH_MASK_NONE;
    while (dh_cell_is_split(cell) && !dh_split_read(p, cell, &bytes))
        cell = dh_cell_load(p);
    struct entries l;
    entries_init(&l);
    if (dh_cell_is_split(cell))
        entries_bytes(&l, &bytes, DH_MASK_FULL);
    else
        entries_cell(&l, cell, DH_MASK_FULL);
    for (u32 i = 0; l.e && i < l.n; i++)
        if (dh_id_eq(dh_cell_id(l.e[i]), id))
            mask = dh_cell_mask(l.e[i]);
    entries_done(&l);
    return mask;
}

/* A cell knows four bytes of an access, its record knows the size, and nothing knows where it began. If the
 * neighbouring cells together hold exactly that size, they tell. Otherwise (some bytes were accessed again
 * since, or a loop made several such accesses) assume that it was aligned to its size. For a range nothing
 * more can be known. */
void dh_step_widen(dh_id_t id, uptr *addr, u32 *size)
{
    const struct dh_access_rec r = dh_id_get(id);
    u32 plane = r.kind & DH_WRITE ? DH_NTH_WRITE : dh_thread_class(r.slot);
    u32 whole = r.size ? 1u << (r.size - 1) : 0, n;
    uptr lo = *addr, hi = lo + *size;
    if (whole <= *size || (r.kind & DH_RANGE))
        return;
    for (; hi - lo < whole && lo % 4 == 0 && lo % 4096; lo -= n) { /* the next page may have no shadow */
        n = dh_mask_high_run(mask_of(lo - 4, id, plane));
        if (n == 0)
            break;
    }
    for (; hi - lo <= whole && hi % 4 == 0 && hi % 4096; hi += n) {
        n = dh_mask_low_run(mask_of(hi, id, plane));
        if (n == 0)
            break;
    }
    if (hi - lo == whole)
        *addr = lo;
    else if (whole > 4)
        *addr &= ~(uptr)(whole - 1);
    else
        return;
    *size = whole;
}

static bool entry_races(const struct dh_access_now *a, dh_cell_t e, dh_mask_t mask)
{
    const dh_id_t id = dh_cell_id(e);
    return dh_mask_meets(dh_cell_mask(e), mask) && !dh_step_before(a->t, id) &&
           !(dh_id_kind(id) & a->kind & DH_ATOMIC);
}

bool dh_step_races(const struct dh_access_now *a, dh_cell_t cell, dh_mask_t mask)
{
    if (dh_step_ordered(a->t, cell))
        return false;
    if (dh_cell_is_simple(cell))
        return entry_races(a, cell, mask);
    const struct dh_history *h = dh_history_get(cell);
    for (u32 i = h->first; i < h->n; i += h->step)
        if (entry_races(a, dh_cell_load(&h->cells[i]), mask))
            return true;
    return false;
}

static void check_entry(const struct dh_access_now *a, uptr word, dh_cell_t e, dh_mask_t mask)
{
    const dh_mask_t theirs = dh_cell_mask(e), common = dh_mask_and(theirs, mask);
    if (!entry_races(a, e, mask) || (a->kind & DH_UNKEPT && dh_engine_excuses(a->addr, dh_cell_id(e))))
        return;
    dh_recheck_reported(dh_cell_id(e));
    dh_report_race(a, dh_cell_id(e), word + dh_mask_first(theirs), dh_mask_count(theirs),
                   word + dh_mask_first(common));
}

void dh_step_check(const struct dh_access_now *a, uptr word, dh_cell_t cell, dh_mask_t mask)
{
    if (dh_cell_is_simple(cell)) {
        check_entry(a, word, cell, mask);
        return;
    }
    const struct dh_history *h = dh_history_get(cell);
    for (u32 i = h->first; i < h->n; i += h->step)
        check_entry(a, word, dh_cell_load(&h->cells[i]), mask);
}

void dh_step_check_bytes(const struct dh_access_now *a, uptr word, const struct dh_bytes *bytes,
                         dh_mask_t mask)
{
    bool ordered = true;
    for (dh_mask_t rest = mask; !dh_mask_is_none(rest) && ordered; rest = dh_mask_rest(rest))
        ordered = dh_step_ordered(a->t, bytes->cell[dh_mask_first(rest)]);
    if (DH_LIKELY(ordered))
        return;
    struct entries l;
    entries_init(&l);
    entries_bytes(&l, bytes, DH_MASK_FULL);
    for (u32 i = 0; l.e && i < l.n; i++)
        check_entry(a, word, l.e[i], mask);
    entries_done(&l);
}
