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
 * concurrent atomic writes are kept, not one; after a race the cell goes on as if the access had been
 * ordered.
 */
#include <string.h>

#include "base/pool.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/parts.h"
#include "runtime/engine/rules.h"
#include "runtime/init.h"
#include "runtime/report/report.h"

/* ---- Identity ---- */

/* Ids of one kind of block; see struct dh_thread. */
static bool refill(struct dh_thread *t, bool special)
{
    u32 *first = special ? &t->special_first : &t->id_first;
    u32 *size = special ? &t->special_size : &t->id_size;
    /* An epoch that has made many ids will make more, and cells named by an earlier run of blocks are no
     * longer hit by the inlined check: it gets a run that is long enough for several times as many. */
    const u32 least = 128, most = 16384;
    u32 ids = t->id_made * 4, got;
    u32 want = special ? 1 : (ids < least ? least : ids < most ? ids : most) / DH_ID_BLOCK;
    dh_parts_flush(t); /* ids that wait there are in no cell yet, so their blocks must still be t's */
    t->stamp++;
    t->recorded = true;
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
        t->id_next = *first;
        t->id_end = *first + got;
        if (dh_thread_records(t))
            dh_thread_set_hot(t, &__dh_hot);
        t->id_made = 0;
    }
    if (!got)
        dh_count(DH_COUNT_LOST_IDS);
    return got != 0;
}

static u32 id_new(struct dh_thread *t, u32 kind, u32 ctx, size_t size)
{
    bool special = (kind & (DH_ATOMIC | DH_FREE)) != 0;
    u32 *next = special ? &t->special_next : &t->id_next;
    const u32 *end = special ? &t->special_end : &t->id_end;
    const struct dh_access_rec r = {
        .clock = t->vc.c[t->slot],
        .slot = t->slot,
        .uid = t->uid,
        .ctx = ctx,
        .lockset = t->lockset_gen == t->held_gen ? t->lockset : dh_thread_lockset(t),
        .kind = kind,
        .size = dh_id_size_code(size),
    };
    while (*next == *end || !dh_id_put(*next, &r)) {
        if (*next != *end)
            *next = DH_ALIGN_UP(*next, DH_ID_BLOCK); /* what is passed over is in no cell */
        else if (!refill(t, special))
            return 0;
    }
    __atomic_signal_fence(__ATOMIC_RELEASE);
    if (!special) {
        t->id_made++;
        t->ready_stamp = t->stamp - 1; /* it may be another block */
    }
    return (*next)++;
}

bool dh_step_ready(struct dh_thread *t)
{
    u32 id = t->id_next;
    if (id == t->id_end || id % DH_ID_BLOCK == 0 || !dh_id_next_like(id, t->vc.c[t->slot], t->uid, &t->ready))
        return false;
    t->ready.lockset = t->lockset_gen == t->held_gen ? t->lockset : dh_thread_lockset(t);
    t->ready_stamp = t->stamp;
    t->ready_end = DH_ALIGN_UP(id, DH_ID_BLOCK);
    return true;
}

u32 dh_step_new_id(struct dh_thread *t, struct dh_idc *set, struct dh_idc *entry, u32 fctx, size_t size,
                   u32 kind, const void *pc)
{
    if (!entry) {
        u32 ctx = pc ? dh_thread_leaf(t, fctx, pc) : fctx;
        for (u32 way = DH_IDC_WAYS - 1; way > 0; way--)
            set[way] = set[way - 1];
        entry = set;
        *entry = (struct dh_idc){.pc_kind = (uptr)pc | (u64)kind << 56, .fctx = fctx, .ctx = ctx};
    } /* else it is of an earlier epoch: the context is the same */
    entry->id = id_new(t, kind, entry->ctx, size);
    entry->stamp = entry->id ? t->stamp : t->stamp - 1;
    return entry->id;
}

bool dh_step_identify(struct dh_access_now *a, const void *pc)
{
    if (a->t->alone ||
        !dh_touched_note(a->addr, a->size, a->kind & DH_WRITE ? a->t->marks_write : a->t->marks_read))
        return false;
    a->id = dh_step_id(a->t, a->piece ? a->piece : a->size, a->kind, pc);
    return a->id != 0;
}

/* ---- Order ---- */

static bool id_ordered(const struct dh_thread *t, u32 id)
{
    const struct dh_id_block *b = dh_id_block(id);
    if (DH_LIKELY(dh_vclock_get(&t->vc, b->slot) >= b->youngest))
        return true;
    return dh_vclock_get(&t->vc, b->slot) >= dh_id_clock(id);
}

bool dh_step_ordered_slow(struct dh_thread *t, u32 cell)
{
    if (dh_cell_is_simple(cell)) {
        if (!id_ordered(t, dh_cell_id(cell)))
            return false;
    } else {
        const struct dh_history *h = dh_history_get(cell);
        for (u32 i = h->first; i < h->n; i += h->step) {
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
        return (dh_id_kind(dh_cell_id(e)) & DH_ATOMIC) && id_ordered(a->t, dh_cell_id(e));
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
        u32 a = dh_cell_id(e[i]);
        for (u32 k = i + 1; k < n; k++) {
            u32 b = dh_cell_id(e[k]);
            if (dh_id_clock(a) == dh_id_clock(b) && dh_id_slot(a) == dh_id_slot(b) &&
                ((dh_id_kind(a) ^ dh_id_kind(b)) & (DH_ATOMIC | DH_FREE)) == 0) {
                e[k] |= dh_cell_make(0, dh_cell_mask(e[i]));
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
    u32 *e; /* few, or from the pool; NULL: no memory */
    u32 few[64];
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
        dh_pool_free(l->e, l->cap * sizeof(u32));
}

static void entries_add(struct entries *l, u32 e)
{
    if (!l->e)
        return;
    for (u32 i = 0; i < l->n; i++) {
        if (dh_cell_id(l->e[i]) == dh_cell_id(e)) {
            l->e[i] |= e;
            return;
        }
    }
    if (l->n == l->cap) {
        u32 *more = dh_pool_alloc(l->cap * 2 * sizeof(u32));
        if (more)
            memcpy(more, l->e, l->n * sizeof(u32));
        entries_done(l);
        l->e = more;
        l->cap *= 2;
        if (!more)
            return;
    }
    l->e[l->n++] = e;
}

/* Those of a cell that is not split, on the bytes of mask. */
static void entries_cell(struct entries *l, u32 cell, u32 mask)
{
    const struct dh_history *h = dh_cell_is_history(cell) ? dh_history_get(cell) : NULL;
    u32 step = h ? h->step : 1;
    for (u32 i = h ? h->first : 0, n = h ? h->n : cell ? 1 : 0; i < n; i += step) {
        u32 e = h ? __atomic_load_n(&h->cells[i], __ATOMIC_RELAXED) : cell;
        if (dh_cell_mask(e) & mask)
            entries_add(l, dh_cell_make(dh_cell_id(e), dh_cell_mask(e) & mask));
    }
}

static void entries_bytes(struct entries *l, const struct dh_bytes *bytes, u32 mask)
{
    for (u32 k = 0; k < 4; k++)
        if (mask >> k & 1)
            entries_cell(l, bytes->cell[k], 1u << k);
}

/* The cell of these entries after access a; 0: no memory. */
static u32 combine(const struct dh_access_now *a, struct entries *l, u32 age, u32 mask, enum dh_plane plane)
{
    u32 m = 0, cell = 0;
    for (u32 i = 0; l->e && i < l->n; i++) {
        u32 e = l->e[i], keep = dh_cell_mask(e);
        if ((keep & mask) && replaces(a, e, plane))
            keep &= ~mask;
        if (keep)
            l->e[m++] = dh_cell_make(dh_cell_id(e), keep);
    }
    l->n = m;
    entries_add(l, dh_cell_make(a->id, mask));
    if (l->e && l->n > 1 && dh_history_pressure())
        l->n = merge_epochs(l->e, l->n);
    if (dh_history_want_collection())
        a->t->want_collect = true;
    if (!l->e || !dh_history_cell(l->e, l->n, age, &cell))
        dh_runtime_degrade("no memory for access histories");
    entries_done(l);
    return cell;
}

/*
 * Bytes of a word with different accesses are an interned history if the same mixtures come again and again,
 * as in tables of bytes written from few places: then the step table knows them, and many cells share one
 * history. Where nearly every word is different, making histories costs far more than splitting the cell.
 * thread.mixing tells which it is: remembered steps count up, others count down, and below zero cells are
 * split for a while before it is tried again.
 */
enum { MIXING_MAX = 8192, MIXING_MISS = 3, MIXING_PAUSE = 64 << 10 };

static void mixture(struct dh_thread *t, u32 mask, bool known)
{
    if (mask == DH_MASK_FULL)
        return;
    t->mixtures++;
    if (t->mixing < 0)
        return;
    if (known)
        t->mixing += t->mixing < MIXING_MAX;
    else if ((t->mixing -= MIXING_MISS) < 0)
        t->mixing = -MIXING_PAUSE;
}

u32 dh_step_cell(const struct dh_access_now *a, u32 old, u32 mask, enum dh_plane plane)
{
    u32 me = dh_cell_make(a->id, mask);
    DH_ASSERT(a->t->in_rt && mask && !dh_cell_is_split(old) && dh_valid_cell(old, plane) &&
              dh_valid_id(a->id));
    if (old == 0 || old == DH_CELL_READS)
        return me;
    /* More bytes of a word this access is already in; under pressure (merge_epochs), that this epoch is
     * already in. */
    if (dh_cell_is_simple(old) && dh_cell_id(old) == a->id)
        return old | me;
    if (!(a->kind & (DH_ATOMIC | DH_FREE)) && dh_step_mine_simple(old) && dh_split_pressure(a->t))
        return me | dh_cell_make(0, dh_cell_mask(old));
    bool covers = mask == DH_MASK_FULL || (dh_cell_is_simple(old) && !(dh_cell_mask(old) & ~mask));
    if (covers && !(a->kind & DH_ATOMIC) && ((a->kind & DH_WRITE) || dh_step_ordered(a->t, old)))
        return me;
    /* The usual atomic: the only access before it was atomic too, and has happened before. */
    if (covers && (a->kind & DH_ATOMIC) && dh_cell_is_simple(old) &&
        (dh_id_kind(dh_cell_id(old)) & DH_ATOMIC) && dh_step_ordered(a->t, old))
        return me;
    /* The result depends on the thread's clock as well; within an epoch a larger clock could only replace
     * more, so a remembered result is right but may keep what could go. */
    __typeof__(a->t->step[0]) *s =
        &a->t->step[((old * 0x9E3779B1u ^ me * 0x85EBCA6Bu) >> 20 ^ (u32)plane << 5 ^ me >> DH_ID_BITS) %
                    DH_STEP];
    if (s->old == old && s->me == me && s->plane == (u32)plane) {
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
    u32 result = combine(a, &l, h ? h->age + 1 : 0, mask, plane);
    if (!result)
        return old;
    DH_ASSERT(dh_valid_cell(result, plane));
    if (h && h->by_slot)
        return result; /* right for this moment only */
    s->old = old;
    s->me = me;
    s->plane = (u32)plane;
    s->result = result;
    return result;
}

u32 dh_step_whole(const struct dh_access_now *a, const struct dh_bytes *old, enum dh_plane plane)
{
    u32 me = dh_cell_make(a->id, DH_MASK_FULL);
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
    u32 cell = combine(a, &l, 0, DH_MASK_FULL, plane);
    return cell ? cell : me;
}

bool dh_step_splits(const struct dh_access_now *a, u32 old, u32 mask)
{
    struct dh_thread *t = a->t;
    if (mask == DH_MASK_FULL || old == 0 || old == DH_CELL_READS || t->mixing >= 0)
        return false;
    if (dh_cell_is_history(old) && dh_history_get(old)->by_slot)
        return false;
    if (dh_cell_is_simple(old) &&
        (dh_cell_id(old) == a->id || !(dh_cell_mask(old) & ~mask) ||
         (!(a->kind & (DH_ATOMIC | DH_FREE)) && dh_step_mine_simple(old) && dh_split_pressure(t))))
        return false;
    if (++t->mixing == 0)
        t->mixing = DH_MIXING_START;
    return true;
}

bool dh_step_byte(u32 cell, u32 k, u32 *ret)
{
    const u32 full = DH_MASK_FULL << DH_ID_BITS;
    if (dh_cell_is_simple(cell)) {
        *ret = dh_cell_mask(cell) >> k & 1 ? cell | full : 0;
        return true;
    }
    struct entries l;
    entries_init(&l);
    entries_cell(&l, cell, 1u << k);
    for (u32 i = 0; l.e && i < l.n; i++)
        l.e[i] |= full;
    bool ok = l.e && dh_history_cell(l.e, l.n, 0, ret);
    entries_done(&l);
    return ok;
}

bool dh_step_keep(u32 cell, const struct dh_bytes *bytes, u32 mask, u32 *ret)
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

bool dh_step_in_place(const struct dh_access_now *a, u32 cell, u32 mask)
{
    struct dh_history *h = (struct dh_history *)dh_history_get(cell);
    u32 *entry = h->by_slot ? dh_history_entry(h, a->t->slot) : NULL;
    if (!entry || (h->by_slot != DH_BY_SLOT_PLAIN && !(a->kind & DH_ATOMIC)))
        return false;
    u32 old = *entry;
    DH_ASSERT(a->t->in_rt && dh_valid_id(a->id) && dh_id_slot(a->id) == a->t->slot);
    if (old && ((dh_cell_mask(old) & ~mask) || ((dh_id_kind(dh_cell_id(old)) ^ a->kind) & DH_ATOMIC)))
        return false;
    __atomic_exchange_n(entry, dh_cell_make(a->id, mask), __ATOMIC_SEQ_CST);
    return !__atomic_load_n(&h->closed, __ATOMIC_SEQ_CST);
}

/* ---- Races ---- */

/* The bytes of this word of which access `id` is still known. */
static u32 mask_of(uptr word, u32 id, u32 plane)
{
    const u32 *p = dh_shadow_nth(word, plane);
    struct dh_bytes bytes;
    u32 cell = __atomic_load_n(p, __ATOMIC_RELAXED), mask = 0;
    while (dh_cell_is_split(cell) && !dh_split_read(p, cell, &bytes))
        cell = __atomic_load_n(p, __ATOMIC_RELAXED);
    struct entries l;
    entries_init(&l);
    if (dh_cell_is_split(cell))
        entries_bytes(&l, &bytes, DH_MASK_FULL);
    else
        entries_cell(&l, cell, DH_MASK_FULL);
    for (u32 i = 0; l.e && i < l.n; i++)
        if (dh_cell_id(l.e[i]) == id)
            mask = dh_cell_mask(l.e[i]);
    entries_done(&l);
    return mask;
}

/* A cell knows four bytes of an access, its record how many it was, and nobody where it began. If the cells
 * around hold just as much of it, they tell. Else (some bytes were accessed again since, or a loop has made
 * several of it) it is taken to be aligned to its size. Of a range nothing more can be said. */
void dh_step_widen(u32 id, uptr *addr, u32 *size)
{
    const struct dh_access_rec r = dh_id_get(id);
    u32 plane = r.kind & DH_WRITE ? DH_NTH_WRITE : r.slot % DH_READ_CLASSES;
    u32 whole = r.size ? 1u << (r.size - 1) : 0, n;
    uptr lo = *addr, hi = lo + *size;
    if (whole <= *size || (r.kind & DH_RANGE))
        return;
    for (; hi - lo < whole && lo % 4 == 0 && lo % 4096; lo -= n) { /* the next page may have no shadow */
        n = (u32)__builtin_clz(~(mask_of(lo - 4, id, plane) << 28));
        if (n == 0)
            break;
    }
    for (; hi - lo <= whole && hi % 4 == 0 && hi % 4096; hi += n) {
        n = (u32)__builtin_ctz(~mask_of(hi, id, plane));
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

static bool entry_races(const struct dh_access_now *a, u32 e, u32 mask)
{
    u32 id = dh_cell_id(e);
    return (dh_cell_mask(e) & mask) && !id_ordered(a->t, id) && !(dh_id_kind(id) & a->kind & DH_ATOMIC);
}

bool dh_step_races(const struct dh_access_now *a, u32 cell, u32 mask)
{
    if (dh_step_ordered(a->t, cell))
        return false;
    if (dh_cell_is_simple(cell))
        return entry_races(a, cell, mask);
    const struct dh_history *h = dh_history_get(cell);
    for (u32 i = h->first; i < h->n; i += h->step)
        if (entry_races(a, __atomic_load_n(&h->cells[i], __ATOMIC_RELAXED), mask))
            return true;
    return false;
}

static void check_entry(const struct dh_access_now *a, uptr word, u32 e, u32 mask)
{
    u32 id = dh_cell_id(e), common = dh_cell_mask(e) & mask;
    if (!entry_races(a, e, mask))
        return;
    dh_report_race(a, id, word + (u32)__builtin_ctz(dh_cell_mask(e)),
                   (u32)__builtin_popcount(dh_cell_mask(e)), word + (u32)__builtin_ctz(common));
}

void dh_step_check(const struct dh_access_now *a, uptr word, u32 cell, u32 mask)
{
    if (dh_cell_is_simple(cell)) {
        check_entry(a, word, cell, mask);
        return;
    }
    const struct dh_history *h = dh_history_get(cell);
    for (u32 i = h->first; i < h->n; i += h->step)
        check_entry(a, word, __atomic_load_n(&h->cells[i], __ATOMIC_RELAXED), mask);
}

void dh_step_check_bytes(const struct dh_access_now *a, uptr word, const struct dh_bytes *bytes, u32 mask)
{
    bool ordered = true;
    for (u32 rest = mask; rest && ordered; rest &= rest - 1)
        ordered = dh_step_ordered(a->t, bytes->cell[__builtin_ctz(rest)]);
    if (DH_LIKELY(ordered))
        return;
    struct entries l;
    entries_init(&l);
    entries_bytes(&l, bytes, DH_MASK_FULL);
    for (u32 i = 0; l.e && i < l.n; i++)
        check_entry(a, word, l.e[i], mask);
    entries_done(&l);
}
