/*
 * recheck.c - see recheck.h. In the checked runtime only.
 */
#include "runtime/engine/recheck.h"

#include "base/fmt.h"
#include "base/pool.h"
#include "base/sys.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/exception.h"
#include "runtime/engine/parts.h"
#include "runtime/engine/reference.h"
#include "runtime/init.h"
#include "runtime/shadow/collect.h"

enum {
    PIECE = 64,             /* words of a long range checked at each end, and in between */
    MOST = 3 * PIECE,       /* words of any access */
    ENTRIES = 64,           /* entries of one word; with more it is skipped */
    ENTRIES_ON_AVERAGE = 8, /* of a range: determines the room for them */
    REPORTED = 32,
};

/* A word as it was before. */
struct word {
    uptr at;
    dh_mask_t mask; /* what the access touches */
    u32 first, n;   /* its entries */
    bool too_many;  /* to be noted */
};

struct dh_recheck {
    struct dh_recheck *outer; /* of the same kernel thread */
    size_t size;              /* of this memory */
    struct dh_thread *t;
    u32 kind;
    bool recorded;  /* struct dh_reference_access */
    bool disturbed; /* by another access of the same thread, to one of these words */
    /* What it was when the access began; a change explains a difference. */
    u64 forgets, losses;
    u32 gen;
    u32 n_reported; /* more than REPORTED: not all are known */
    dh_id_t reported[REPORTED];
    u32 words_n, entries_n, entries_most;
    struct word words[]; /* then the entries: before, and of one word after */
};

static _Thread_local struct dh_recheck *innermost __attribute__((tls_model("initial-exec")));
/* Upper half: how many times forgetting has begun; lower half: how many threads are at it now. Atomic. */
static u64 forgets;
static u64 turn; /* where the next long range is checked; atomic */

void dh_recheck_forget_begin(void)
{
    __atomic_fetch_add(&forgets, ((u64)1 << 32) + 1, __ATOMIC_SEQ_CST);
}

void dh_recheck_forget_end(void)
{
    __atomic_fetch_sub(&forgets, 1, __ATOMIC_SEQ_CST);
}

static u64 losses(void)
{
    return dh_runtime_counter(DH_COUNT_LOST_IDS) + dh_runtime_counter(DH_COUNT_LOST_MEMORY) +
           dh_runtime_counter(DH_COUNT_LOST_SHADOW);
}

/* ---- What a word holds ---- */

struct list {
    struct dh_reference_entry *e;
    u32 n, most;
    bool too_many;
};

static void list_add(struct list *l, dh_cell_t entry, u32 plane, dh_mask_t mask)
{
    const dh_mask_t common = dh_mask_and(dh_cell_mask(entry), mask);
    if (dh_mask_is_none(common) || dh_id_eq(dh_cell_id(entry), DH_ID_READS))
        return; /* that id tells sampling about other planes; it is no access */
    if (l->n == l->most)
        l->too_many = true;
    else
        l->e[l->n++] = (struct dh_reference_entry){dh_cell_id(entry), plane, common};
}

/* A cell that is not split, as far as the bytes of mask go. */
static void list_cell(struct list *l, dh_cell_t cell, u32 plane, dh_mask_t mask)
{
    if (dh_cell_is_simple(cell)) {
        list_add(l, cell, plane, mask);
        return;
    }
    const struct dh_history *h = dh_history_get(cell);
    for (u32 i = h->first; i < h->n; i += h->step)
        list_add(l, dh_cell_load(&h->cells[i]), plane, mask);
}

static void list_word(struct list *l, uptr word)
{
    const u32 marks = dh_touched_mark(word);
    for (u32 plane = 0; plane < DH_PLANES; plane++) {
        if (!dh_touched_plane(marks, plane)) /* its plane need not be mapped */
            continue;
        const struct dh_content c = dh_split_content(dh_shadow_nth(word, plane));
        if (!dh_cell_is_split(c.cell))
            list_cell(l, c.cell, plane, DH_MASK_FULL);
        for (u32 k = 0; dh_cell_is_split(c.cell) && k < 4; k++)
            list_cell(l, c.bytes.cell[k], plane, dh_mask_byte(k));
    }
}

static struct dh_reference_access access_of(const struct dh_thread *t, u32 kind, dh_mask_t mask)
{
    return (struct dh_reference_access){
        .vc = &t->vc, .slot = t->slot, .class = t->class, .kind = kind, .mask = mask};
}

/* ---- Failure ---- */

static void say_word(const char *when, const struct dh_reference_access *a, const struct dh_reference_word *w)
{
    char buf[2048];
    struct dh_fmt f;
    dh_fmt_init(&f, buf, sizeof(buf));
    dh_fmt_str(&f, when);
    for (u32 i = 0; i < w->n; i++) {
        const struct dh_reference_entry *e = &w->e[i];
        const struct dh_access_rec r = dh_id_get(e->id);
        dh_fmt_str(&f, i ? "; " : " ");
        dh_fmt_str(&f, e->plane == DH_NTH_WRITE ? "write plane" : "read plane ");
        if (e->plane != DH_NTH_WRITE)
            dh_fmt_u64(&f, e->plane);
        dh_fmt_str(&f, " bytes ");
        for (u32 k = 0; k < 4; k++)
            dh_fmt_char(&f, dh_mask_has(e->mask, k) ? (char)('0' + k) : '-');
        dh_fmt_str(&f, " id ");
        dh_fmt_u64(&f, dh_id_raw(e->id));
        dh_fmt_str(&f, r.kind & DH_ATOMIC ? " atomic" : r.kind & DH_FREE ? " free" : " plain");
        dh_fmt_str(&f, r.kind & DH_WRITE ? " write slot " : " read slot ");
        dh_fmt_u64(&f, dh_slot_raw(r.slot));
        dh_fmt_str(&f, " clock ");
        dh_fmt_u64(&f, r.clock);
        dh_fmt_str(&f, dh_vclock_get(a->vc, r.slot) >= r.clock ? "" : " not ordered");
    }
    dh_fmt_str(&f, w->n ? "" : " nothing");
    dh_sys_say(buf);
}

static _Noreturn void fail(uptr word, const struct dh_reference_access *a,
                           const struct dh_reference_fault *fault, const struct dh_reference_word *before,
                           const struct dh_reference_word *after)
{
    static const char *const expected[] = {
        [DH_REFERENCE_RIGHT] = "",
        [DH_REFERENCE_UNREPORTED] = "a race is reported with id ",
        [DH_REFERENCE_ABSENT] = "this access is recorded",
        [DH_REFERENCE_EXTRA] = "this access is not recorded, which it is as id ",
        [DH_REFERENCE_LOST] = "the cell keeps id ",
    };
    char buf[512];
    struct dh_fmt f;
    dh_fmt_init(&f, buf, sizeof(buf));
    dh_fmt_str(&f, "recheck failed: ");
    dh_fmt_str(&f, a->kind & DH_ATOMIC ? "atomic " : a->kind & DH_FREE ? "free, a " : "");
    dh_fmt_str(&f, a->kind & DH_WRITE ? "write of " : "read of ");
    dh_fmt_hex(&f, word);
    dh_fmt_str(&f, " bytes ");
    for (u32 k = 0; k < 4; k++)
        dh_fmt_char(&f, dh_mask_has(a->mask, k) ? (char)('0' + k) : '-');
    dh_fmt_str(&f, " by slot ");
    dh_fmt_u64(&f, dh_slot_raw(a->slot));
    dh_fmt_str(&f, " at clock ");
    dh_fmt_u64(&f, dh_vclock_get(a->vc, a->slot));
    dh_fmt_str(&f, "; expected of byte ");
    dh_fmt_u64(&f, fault->byte);
    dh_fmt_str(&f, fault->plane == DH_NTH_WRITE ? " in the write plane: " : " in read plane ");
    if (fault->plane != DH_NTH_WRITE) {
        dh_fmt_u64(&f, fault->plane);
        dh_fmt_str(&f, ": ");
    }
    dh_fmt_str(&f, expected[fault->verdict]);
    if (!dh_id_is_none(fault->id))
        dh_fmt_u64(&f, dh_id_raw(fault->id));
    dh_sys_say(buf);
    say_word("recheck: before:", a, before);
    say_word("recheck: after:", a, after);
    dh_sys_abort();
}

/* ---- Before ---- */

static bool overlap(const struct dh_recheck *r, const struct dh_recheck *s)
{
    for (u32 i = 0; i < r->words_n; i++)
        for (u32 k = 0; k < s->words_n; k++)
            if (r->words[i].at == s->words[k].at)
                return true;
    return false;
}

static struct dh_recheck *make(struct dh_thread *t, u32 kind, u32 words)
{
    DH_ASSERT(t->in_rt && t == __dh_hot.self && words > 0 && words <= MOST);
    if (t->unsampled || dh_runtime_off || dh_exception_on())
        return NULL;
    const u32 entries = ENTRIES + words * ENTRIES_ON_AVERAGE;
    const size_t size = sizeof(struct dh_recheck) + words * sizeof(struct word) +
                        (entries + ENTRIES) * sizeof(struct dh_reference_entry);
    struct dh_recheck *r = dh_pool_alloc(size);
    if (!r)
        return NULL;
    r->size = size;
    r->t = t;
    r->kind = kind;
    r->words_n = words;
    r->entries_most = entries;
    return r;
}

static struct dh_reference_entry *entries_of(struct dh_recheck *r)
{
    return (struct dh_reference_entry *)&r->words[r->words_n];
}
_Static_assert(_Alignof(struct word) >= _Alignof(struct dh_reference_entry), "they follow the words");

/* The words are known: note what they hold. */
static struct dh_recheck *begin(struct dh_recheck *r)
{
    r->gen = dh_collect_gen;
    r->losses = losses();
    r->forgets = __atomic_load_n(&forgets, __ATOMIC_SEQ_CST);
    r->disturbed = dh_collect_marking();
    for (u32 i = 0; i < r->words_n; i++) {
        struct word *w = &r->words[i];
        struct list l = {.e = entries_of(r) + r->entries_n, .most = r->entries_most - r->entries_n};
        l.most = l.most < ENTRIES ? l.most : ENTRIES;
        list_word(&l, w->at);
        w->first = r->entries_n;
        w->n = l.too_many ? 0 : l.n;
        w->too_many = l.too_many;
        r->entries_n += w->n;
    }
    for (struct dh_recheck *o = innermost; o && !r->recorded; o = o->outer)
        o->disturbed = o->disturbed || overlap(o, r);
    r->outer = innermost;
    innermost = r;
    return r;
}

static struct dh_recheck *begin_words(struct dh_thread *t, u32 kind, uptr word, u32 n, dh_mask_t mask,
                                      bool recorded)
{
    struct dh_recheck *r = make(t, kind, n);
    DH_ASSERT(!(word & 3) && !dh_mask_is_none(mask) && (n == 1 || dh_mask_is_full(mask)));
    for (u32 i = 0; r && i < n; i++)
        r->words[i] = (struct word){.at = word + i * 4, .mask = mask};
    if (r)
        r->recorded = recorded;
    return r ? begin(r) : NULL;
}

struct dh_recheck *dh_recheck_word(struct dh_thread *t, u32 kind, uptr word, bool two, dh_mask_t mask)
{
    return begin_words(t, kind, word, two ? 2 : 1, mask, false);
}

struct dh_recheck *dh_recheck_look(struct dh_thread *t, uptr word, u32 n, dh_mask_t mask)
{
    return begin_words(t, DH_READ, word, n, mask, true);
}

/* Those words of some elements that are checked. */
struct span {
    uptr addr, step;
    size_t size;
    u64 each, total; /* words of one element, and of all */
    u64 middle;      /* where the piece in between begins */
};

static struct span span_of(uptr addr, size_t size, uptr step, u64 count)
{
    struct span s = {.addr = addr, .step = step, .size = size};
    DH_ASSERT(size > 0 && count > 0 && (count == 1 || (addr | size | step) % 4 == 0));
    s.each = (((addr + size - 1) & ~(uptr)3) - (addr & ~(uptr)3)) / 4 + 1;
    s.total = s.each * count;
    if (s.total > MOST) {
        const u64 places = s.total - MOST + 1;
        s.middle = PIECE + dh_hash64(__atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED)) % places;
    }
    return s;
}

static u32 span_words(const struct span *s)
{
    return s->total < MOST ? (u32)s->total : MOST;
}

static struct word span_word(const struct span *s, u32 i)
{
    u64 at = i;
    if (s->total > MOST && i >= 2 * PIECE)
        at = s->total - MOST + i;
    else if (s->total > MOST && i >= PIECE)
        at = s->middle + i - PIECE;
    const uptr element = s->addr + at / s->each * s->step;
    const uptr word = (element & ~(uptr)3) + at % s->each * 4;
    return (struct word){.at = word, .mask = dh_mask_within(word, element, element + s->size)};
}

struct dh_recheck *dh_recheck_range(struct dh_thread *t, u32 kind, uptr addr, size_t size, uptr step,
                                    u64 count)
{
    const struct span s = span_of(addr, size, step, count);
    struct dh_recheck *r = make(t, kind, span_words(&s));
    for (u32 i = 0; r && i < r->words_n; i++)
        r->words[i] = span_word(&s, i);
    return r ? begin(r) : NULL;
}

/* ---- After ---- */

void dh_recheck_reported(dh_id_t id)
{
    for (struct dh_recheck *r = innermost; r; r = r->outer) {
        bool known = false;
        for (u32 i = 0; i < r->n_reported && i < REPORTED && !known; i++)
            known = dh_id_eq(r->reported[i], id);
        if (!known && r->n_reported < REPORTED)
            r->reported[r->n_reported] = id;
        r->n_reported += !known && r->n_reported <= REPORTED;
    }
}

/* Was a race reported with an access that was not in this word before? It may have come in between and been
 * replaced: since a thread acquires nothing during an access, every conflicting access in between is a
 * race. */
static bool has_met(struct dh_recheck *r, const struct word *w)
{
    bool met = false;
    for (u32 i = 0; i < r->n_reported && i < REPORTED && !met; i++) {
        met = true;
        for (u32 k = w->first; k < w->first + w->n && met; k++)
            met = !dh_id_eq(entries_of(r)[k].id, r->reported[i]);
    }
    return met;
}

/* Can the words have been changed by someone whose access left no trace? */
static bool is_explained(const struct dh_recheck *r)
{
    return r->disturbed || r->gen != dh_collect_gen || dh_collect_marking() || dh_runtime_off ||
           r->losses != losses() || (u32)r->forgets ||
           r->forgets != __atomic_load_n(&forgets, __ATOMIC_SEQ_CST);
}

void dh_recheck_drop(struct dh_recheck *r)
{
    if (!r)
        return;
    DH_ASSERT(r == innermost);
    innermost = r->outer;
    dh_pool_free(r, r->size);
}

/* False: it cannot be told. */
static bool compare(struct dh_recheck *r, const struct word *w)
{
    struct list now = {.e = entries_of(r) + r->entries_most, .most = ENTRIES};
    list_word(&now, w->at);
    if (w->too_many || now.too_many)
        return false;
    const struct dh_reference_word before = {entries_of(r) + w->first, w->n}, after = {now.e, now.n};
    struct dh_reference_access a = access_of(r->t, r->kind, w->mask);
    a.recorded = r->recorded;
    a.reported = r->reported;
    a.n_reported = r->n_reported < REPORTED ? r->n_reported : REPORTED;
    const struct dh_reference_fault fault = dh_reference_judge(&a, &before, &after);
    if (fault.verdict == DH_REFERENCE_RIGHT)
        return true;
    if (!is_explained(r) && !has_met(r, w) &&
        !(fault.verdict == DH_REFERENCE_UNREPORTED && r->n_reported > REPORTED) &&
        !dh_reference_is_disturbed(&a, &fault, &before, &after))
        fail(w->at, &a, &fault, &before, &after);
    return false;
}

void dh_recheck_end(struct dh_recheck *r)
{
    if (!r)
        return;
    DH_ASSERT(r == innermost && r->t == __dh_hot.self && r->t->in_rt);
    bool all = true;
    for (u32 i = 0; i < r->words_n; i++)
        all = compare(r, &r->words[i]) && all;
    dh_runtime_count(all ? DH_COUNT_RECHECKED : DH_COUNT_RECHECK_SKIPPED);
    dh_recheck_drop(r);
}

/* ---- Accesses that were not recorded ---- */

static _Noreturn void fail_absent(uptr word, const struct dh_reference_access *a,
                                  const struct dh_reference_word *now)
{
    const struct dh_reference_fault absent = {.verdict = DH_REFERENCE_ABSENT,
                                              .plane = a->kind & DH_WRITE ? DH_NTH_WRITE : a->class,
                                              .byte = dh_mask_first(a->mask)};
    fail(word, a, &absent, now, now);
}

/* Is there an access of another thread? It may have displaced the missing one. */
static bool has_others(const struct list *l, dh_slot_t slot)
{
    for (u32 i = 0; i < l->n; i++)
        if (!dh_slot_eq(dh_id_slot(l->e[i].id), slot))
            return true;
    return false;
}

/* Is it there? False: it cannot be told. */
static bool known_word(const struct dh_thread *t, u32 kind, const struct word *w)
{
    struct dh_reference_entry room[ENTRIES];
    struct list l = {.e = room, .most = ENTRIES};
    const u64 forgetting = __atomic_load_n(&forgets, __ATOMIC_SEQ_CST);
    const struct dh_reference_access a = access_of(t, kind, w->mask);
    list_word(&l, w->at);
    const struct dh_reference_word now = {l.e, l.n};
    if (l.too_many)
        return false;
    if (dh_reference_holds(&a, &now))
        return true;
    if (!has_others(&l, t->slot) && !(u32)forgetting && !dh_runtime_off)
        fail_absent(w->at, &a, &now);
    return false;
}

void dh_recheck_known(struct dh_thread *t, u32 kind, uptr addr, size_t size, uptr step, u64 count)
{
    const struct span s = span_of(addr, size, step, count);
    bool all = true;
    DH_ASSERT(t->in_rt && t == __dh_hot.self);
    for (u32 i = 0, n = span_words(&s); i < n; i++) {
        const struct word w = span_word(&s, i);
        all = known_word(t, kind, &w) && all;
    }
    dh_runtime_count(all ? DH_COUNT_RECHECKED : DH_COUNT_RECHECK_SKIPPED);
}

void dh_recheck_known_cells(struct dh_thread *t, u32 kind, uptr addr, u32 size, dh_pair_t cells)
{
    DH_ASSERT(t->in_rt && t == __dh_hot.self);
    for (u32 half = 0; half < (size == 8 ? 2 : 1); half++) {
        struct dh_reference_entry room[ENTRIES];
        struct list l = {.e = room, .most = ENTRIES};
        const uptr word = (addr & ~(uptr)3) + half * 4;
        const struct dh_reference_access a = access_of(t, kind, dh_mask_aligned(addr, size));
        list_cell(&l, half ? dh_pair_hi(cells) : dh_pair_lo(cells), kind & DH_WRITE ? DH_NTH_WRITE : t->class,
                  DH_MASK_FULL);
        const struct dh_reference_word now = {l.e, l.n};
        if (!l.too_many && !dh_reference_holds(&a, &now))
            fail_absent(word, &a, &now);
    }
    dh_runtime_count(DH_COUNT_RECHECKED);
}

void dh_recheck_waits(struct dh_thread *t, uptr word, dh_mask_t mask, bool write)
{
    const struct dh_part *e = &dh_parts_of(t, word)[write];
    const struct word w = {.at = word, .mask = mask};
    bool waits = e->word == word && dh_mask_covers(dh_parts_mask(e), mask) &&
                 dh_slot_eq(dh_id_slot(e->id), t->slot) && dh_id_clock(e->id) == dh_thread_epoch(t);
    bool found = waits || known_word(t, write ? DH_WRITE : DH_READ, &w);
    dh_runtime_count(found ? DH_COUNT_RECHECKED : DH_COUNT_RECHECK_SKIPPED);
}
