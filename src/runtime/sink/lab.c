/*
 * lab.c - the laboratory: any streaming detector of src/detect, inside the running program
 * (docs/design/lab.md).
 *
 * One lock around everything: events reach the detector one at a time, in an order that really happened. That
 * is slow, deliberately; what matters here is that the detector is the very same code that analyses
 * recordings.
 *
 * A variable is a piece of an eight-byte word, and its cell is the number of its page * 4096 + its offset in
 * it. Words are cut where accesses begin and end; a new piece inherits the history of the piece it was part
 * of (docs/design/lab.md). So accesses of different sizes meet where they overlap, and the results equal the
 * fast engine's, byte for byte.
 *
 * A site is an access id (runtime/ids.h) created by this file: (calling context, thread, kind, size, locks
 * held). Ids are never collected here, since no shadow cell holds one; there is one for each distinct tuple.
 */
#include <string.h>

#include "base/pool.h"
#include "base/sys.h"
#include "detect/host.h"
#include "event/objects.h"
#include "event/pages.h"
#include "runtime/init.h"
#include "runtime/report/report.h"
#include "runtime/sink/tap.h"
#include "runtime/threads/alone.h"

enum { CACHE = 256, BATCH = 256, LARGE_FREE = 64 << 10, PAGES_MAX = 1 << 20 /* 32-bit cells */ };

struct ids {
    dh_id_t next, end; /* at hand */
};

/* Per thread. */
struct own {
    struct ids ids;
    /* The sites it used recently. */
    struct {
        const void *pc;
        dh_ctx_t fctx;
        u32 kind, size, held_gen;
        dh_id_t id;
    } cache[CACHE];
};

/* The words of a page. */
struct words {
    u8 cuts[DH_PAGE / 8]; /* bit i: a piece begins at byte i; 0: no access yet */
    u64 reported[DH_PAGE / 8 / 64];
};

static struct dh_lock lock = DH_LOCK_INIT(DH_RANK_TAP);
static const struct dh_detector_ops *ops;
/* All under `lock`. */
static struct dh_host *host;
static struct dh_pages pages;
static struct dh_table words; /* of struct words, by page */
static struct dh_objects objects;
static struct dh_access_now now; /* being handled */
static dh_id_t *sites;           /* open addressing; none: empty */
static u32 sites_n, sites_cap;
static bool off; /* no memory: the detector sees no more */
/* The detector needs no events (`empty`): threads are told so, and events that still come are dropped at the
 * tap, without the lock. Written before the first thread. */
static bool idle;

static void degrade(void)
{
    if (!off)
        dh_runtime_degrade("no memory for the detector");
    off = true;
}

/* ---- Sites ---- */

/* The ids of a block belong to one thread. */
static dh_id_t new_id(struct ids *at, const struct dh_access_rec *r)
{
    if (dh_id_eq(at->next, at->end)) {
        u32 got;
        at->next = dh_ids_take(1, &got);
        at->end = dh_id_plus(at->next, got);
        if (!got) {
            dh_runtime_count(DH_COUNT_LOST_IDS);
            return DH_ID_NONE;
        }
    }
    dh_id_t id = at->next;
    dh_id_put(id, r);
    at->next = dh_id_plus(id, 1);
    return id;
}

static u64 rec_hash(const struct dh_access_rec *r)
{
    u64 hash = dh_hash64((u64)dh_uid_raw(r->uid) << 32 | dh_ctx_raw(r->ctx));
    return dh_hash64(hash ^ ((u64)dh_lockset_raw(r->lockset) << 16 | r->kind << 8 | r->size));
}

static bool rec_equal(const struct dh_access_rec *a, const struct dh_access_rec *b)
{
    return dh_uid_eq(a->uid, b->uid) && dh_ctx_eq(a->ctx, b->ctx) && dh_lockset_eq(a->lockset, b->lockset) &&
           a->kind == b->kind && a->size == b->size;
}

static bool grow_sites(void)
{
    u32 cap = sites_cap ? sites_cap * 2 : 1024;
    dh_id_t *grown = dh_pool_alloc(cap * sizeof(*grown));
    if (!grown)
        return false;
    for (u32 i = 0; i < sites_cap; i++) {
        if (dh_id_is_none(sites[i]))
            continue;
        struct dh_access_rec r = dh_id_get(sites[i]);
        u64 at = rec_hash(&r) & (cap - 1);
        while (!dh_id_is_none(grown[at]))
            at = (at + 1) & (cap - 1);
        grown[at] = sites[i];
    }
    dh_pool_free(sites, sites_cap * sizeof(*sites));
    sites = grown;
    sites_cap = cap;
    return true;
}

/* The id of this record. None: no memory. */
static dh_id_t intern(struct ids *ids, const struct dh_access_rec *r)
{
    if (sites_n * 2 >= sites_cap && !grow_sites())
        return DH_ID_NONE;
    u64 at = rec_hash(r) & (sites_cap - 1);
    for (; !dh_id_is_none(sites[at]); at = (at + 1) & (sites_cap - 1)) {
        struct dh_access_rec o = dh_id_get(sites[at]);
        if (rec_equal(&o, r))
            return sites[at];
    }
    sites[at] = new_id(ids, r);
    sites_n += !dh_id_is_none(sites[at]);
    return sites[at];
}

/* The size as encoded in a record: runtime/ids.h. */
static u32 size_code(size_t size)
{
    return size && size <= 16 && !(size & (size - 1)) ? 1 + (u32)__builtin_ctzll(size) : 0;
}

static dh_id_t site_of(struct dh_thread *t, const struct dh_tap_access *a)
{
    struct own *own = t->tap;
    dh_ctx_t fctx = dh_thread_current_ctx(t);
    u32 size = size_code(a->piece ? a->piece : a->size);
    u32 k =
        (u32)(dh_hash64((uptr)a->pc ^ (u64)dh_ctx_raw(fctx) << 32 ^ a->kind ^ (u64)size << 8) >> 40) % CACHE;
    __typeof__(own->cache[0]) *c = &own->cache[k];
    if (c->pc == a->pc && dh_ctx_eq(c->fctx, fctx) && c->kind == a->kind && c->size == size &&
        c->held_gen == t->locks.gen && !dh_id_is_none(c->id))
        return c->id;
    struct dh_access_rec r = {
        .ctx = a->pc ? dh_thread_leaf(t, fctx, a->pc) : fctx,
        .uid = t->uid,
        .size = size,
        .kind = a->kind & ~(u32)DH_UNKEPT,
        .lockset = dh_thread_lockset(t),
    };
    c->pc = a->pc;
    c->fctx = fctx;
    c->kind = a->kind;
    c->size = size;
    c->held_gen = t->locks.gen;
    c->id = intern(&own->ids, &r);
    return c->id;
}

/* ---- Events; under `lock` ---- */

static void feed(struct dh_event *events, size_t n)
{
    if (!off && dh_host_feed(host, events, n) != 0)
        degrade();
}

static void feed_sync(dh_uid_t uid, u32 op, u32 mode, u32 target)
{
    struct dh_event e = {.op = (u8)op, .mode = (u8)mode, .thread = dh_tap_thread(uid), .target = target};
    if (target == UINT32_MAX)
        degrade();
    else
        feed(&e, 1);
}

/* The first cell of a page; UINT32_MAX: none. */
static u32 page_cell(u64 addr, bool add)
{
    u64 key = addr >> DH_PAGE_SHIFT;
    u32 page = add ? dh_pages_add(&pages, key) : dh_pages_find(&pages, key);
    if (add && page >= PAGES_MAX) {
        degrade();
        return UINT32_MAX;
    }
    return page == DH_PAGES_NONE ? UINT32_MAX : page << DH_PAGE_SHIFT;
}

/* Make pieces begin at bytes `from` and `to` (8: not needed) of the word whose first cell this is. */
static void cut(u8 *cuts, u32 cell, u32 from, u32 to)
{
    const u32 ends[] = {from, to};
    if (*cuts == 0) { /* no history: nothing to copy */
        *cuts = (u8)(1u | 1u << from | 1u << to);
        return;
    }
    for (u32 k = 0; k < 2; k++) {
        if (ends[k] == 8 || *cuts >> ends[k] & 1)
            continue;
        u32 piece = 31 - (u32)__builtin_clz(*cuts & ((1u << ends[k]) - 1));
        dh_host_split(host, cell + ends[k], cell + piece);
        *cuts |= (u8)(1u << ends[k]);
    }
}

/* The events of the pieces of one word, from byte `from` to byte `to`; returns how many. */
static u32 word_events(u8 *cuts, u32 cell, u32 from, u32 to, const struct dh_event *model,
                       struct dh_event *batch)
{
    u32 n = 0;
    cut(cuts, cell, from, to);
    for (u32 rest = *cuts & (0xffu << from) & ((1u << to) - 1); rest; rest &= rest - 1) {
        batch[n] = *model;
        batch[n++].target = cell + (u32)__builtin_ctz(rest);
    }
    return n;
}

static void feed_access(const struct dh_tap_access *a, dh_id_t site, dh_uid_t uid)
{
    struct dh_event batch[BATCH];
    u32 size = a->piece ? a->piece : a->size > UINT16_MAX ? 0 : (u32)a->size, n = 0;
    struct dh_event model = {.op = a->kind & DH_WRITE ? DH_OP_WRITE : DH_OP_READ,
                             .mode = (u8)a->kind,
                             .size = (u16)size,
                             .thread = dh_tap_thread(uid),
                             .site = dh_id_raw(site)};
    /* When a large block is freed, races can only be found where it was used. */
    bool skip = (a->kind & DH_FREE) && a->size > LARGE_FREE;
    for (uptr at = a->addr, end = at + a->size; at < end && !off;) {
        u32 cell = page_cell(at, !skip);
        if (skip && cell == UINT32_MAX) {
            at = DH_ALIGN_DOWN(at, DH_PAGE) + DH_PAGE;
            continue;
        }
        struct words *w = cell == UINT32_MAX ? NULL : dh_table_at(&words, cell >> DH_PAGE_SHIFT);
        if (!w) {
            degrade();
            return;
        }
        uptr stop = DH_ALIGN_DOWN(at, DH_PAGE) + DH_PAGE;
        for (stop = stop < end ? stop : end; at < stop;) {
            u32 place = (u32)(at & (DH_PAGE - 1)), from = place & 7;
            u32 to = stop - at < 8 - from ? from + (u32)(stop - at) : 8;
            n += word_events(&w->cuts[place >> 3], cell + (place & ~7u), from, to, &model, batch + n);
            at += to - from;
            if (n > BATCH - 8) {
                feed(batch, n);
                n = 0;
            }
        }
    }
    feed(batch, n);
}

/* Stands for an access that a detector does not remember. None: no memory. */
static dh_id_t unknown_id(void)
{
    static struct ids ids;
    static dh_id_t id;
    struct dh_access_rec nothing = {0};
    if (dh_id_is_none(id))
        id = new_id(&ids, &nothing);
    return id;
}

/* A race was found while handling `now`. */
static void on_race(void *ctx, u32 index, const struct dh_race *race)
{
    (void)ctx;
    (void)index;
    uptr addr = (pages.keys[race->cell >> DH_PAGE_SHIFT] << DH_PAGE_SHIFT) + (race->cell & (DH_PAGE - 1));
    struct words *w = dh_table_at(&words, race->cell >> DH_PAGE_SHIFT);
    u32 word = (race->cell & (DH_PAGE - 1)) >> 3;
    if (!w || w->reported[word / 64] >> word % 64 & 1)
        return;
    dh_id_t other = race->earlier.thread == DH_UNKNOWN ? unknown_id() : dh_id_from(race->earlier.site);
    if (dh_id_is_none(other) || (now.kind & DH_UNKEPT && dh_engine_excuses(now.addr, other)))
        return;
    w->reported[word / 64] |= 1ull << word % 64;
    const struct dh_access_rec r = dh_id_get(other);
    u32 whole = r.size && !(r.kind & DH_RANGE) ? 1u << (r.size - 1) : 1;
    dh_report_race(&now, other, addr & ~(uptr)(whole - 1), whole, addr);
}

static void access_locked(struct dh_thread *t, const struct dh_tap_access *a)
{
    dh_id_t site = site_of(t, a);
    if (dh_id_is_none(site)) {
        degrade();
        return;
    }
    now = (struct dh_access_now){
        .t = t, .addr = a->addr, .size = a->size, .piece = a->piece, .kind = a->kind, .id = site};
    feed_access(a, site, t->uid);
}

/* ---- The tap ---- */

static void lab_start(struct dh_thread *t)
{
    if (idle) {
        if (__dh_hot.self == t) /* others are fibers, whose events come and end here */
            dh_alone_unheard(t);
        return;
    }
    t->tap = dh_pool_alloc(sizeof(struct own));
    if (!t->tap)
        dh_runtime_degrade("no memory for the detector");
}

static void lab_end(struct dh_thread *t)
{
    dh_pool_free(t->tap, sizeof(struct own));
    t->tap = NULL;
}

static void lab_access(struct dh_thread *t, const struct dh_tap_access *a)
{
    if (idle || !t->tap || dh_runtime_off)
        return;
    dh_lock_take(&lock);
    access_locked(t, a);
    dh_lock_drop(&lock);
}

static void lab_sync(struct dh_thread *t, u32 op, u32 mode, uptr object)
{
    bool unordered = t->system_order || t->unordered; /* what is told all the same: */
    if (idle || (unordered && op != DH_OP_RELEASE))
        return;
    mode |= unordered ? DH_LET_GO : 0; /* a lock that was taken outside is given back */
    dh_lock_take(&lock);
    feed_sync(t->uid, op, mode, op == DH_OP_FENCE ? 0 : dh_objects_at(&objects, object));
    dh_lock_drop(&lock);
}

/* Joined to what every acquire sees, it orders at least what it must (threads/order.c does the same). */
static void lab_foreign(struct dh_thread *t, uptr object)
{
    lab_sync(t, DH_OP_VOLATILE, DH_WRITE, object);
}

/* A read-modify-write acquires, accesses and publishes, in this order. */
static void lab_atomic(struct dh_thread *t, u32 op, u32 order, const struct dh_tap_access *a)
{
    if (idle)
        return;
    dh_lock_take(&lock);
    u32 object = dh_objects_at(&objects, a->addr);
    if (op != DH_OP_ATOMIC_STORE)
        feed_sync(t->uid, DH_OP_ATOMIC_LOAD, order, object);
    if (a->size && t->tap && !off)
        access_locked(t, a);
    if (op != DH_OP_ATOMIC_LOAD)
        feed_sync(t->uid, op, order, object);
    dh_lock_drop(&lock);
}

static void lab_thread(struct dh_thread *t, u32 op, dh_uid_t uid)
{
    if (idle)
        return;
    dh_lock_take(&lock);
    feed_sync(t->uid, op, 0, dh_tap_thread(uid));
    dh_lock_drop(&lock);
}

/* Whole words move with their cuts. */
static bool move_cuts(u32 cell, u32 from, u32 n)
{
    struct words *to = dh_table_at(&words, cell >> DH_PAGE_SHIFT),
                 *w = dh_table_get(&words, from >> DH_PAGE_SHIFT);
    if (!to || !w)
        return false;
    memmove(&to->cuts[(cell & (DH_PAGE - 1)) >> 3], &w->cuts[(from & (DH_PAGE - 1)) >> 3], n >> 3);
    return true;
}

/* Make every byte of a range within one page a variable of its own, where there are variables. */
static void cut_to_bytes(u32 cell, u32 n)
{
    struct words *w = dh_table_get(&words, cell >> DH_PAGE_SHIFT);
    for (u32 at = cell & ~7u; w && at < cell + n; at += 8) {
        u8 *cuts = &w->cuts[(at & (DH_PAGE - 1)) >> 3];
        for (u32 k = 1; *cuts && k < 8; k++)
            cut(cuts, at, k, 8);
    }
}

/* The end of a range may lie within a piece, the rest of which remains. */
static void cut_end(u32 cell)
{
    struct words *w = dh_table_get(&words, cell >> DH_PAGE_SHIFT);
    u32 at = cell & 7, word = (cell & (DH_PAGE - 1)) >> 3;
    if (w && at && w->cuts[word])
        cut(&w->cuts[word], cell - at, at, 8);
}

/* Cells of [addr, addr + n) within one page, from `from` on if it is a move or a copy of whole words. */
static void feed_range(u32 op, u32 cell, u32 from, u32 n)
{
    struct dh_event e = {.op = (u8)op, .size = (u16)n, .target = cell, .site = from};
    cut_end(cell);
    if (((cell + n) & (DH_PAGE - 1)) != 0)
        cut_end(cell + n);
    if (op != DH_OP_RANGE_NEW && !move_cuts(cell, from, n))
        e.op = DH_OP_RANGE_NEW;
    feed(&e, 1);
}

/* The same where bytes change their place within words, or the range overlaps itself: one after the other. */
static void feed_bytes(u32 op, u32 cell, u32 from, u32 n, bool down)
{
    struct words *to = dh_table_at(&words, cell >> DH_PAGE_SHIFT);
    if (!to) {
        degrade();
        return;
    }
    cut_to_bytes(from, n);
    cut_to_bytes(cell, n);
    for (u32 k = 0; k < n; k++) {
        u32 i = down ? n - 1 - k : k, word = ((cell + i) & (DH_PAGE - 1)) >> 3;
        struct dh_event e = {.op = (u8)op, .size = 1, .target = cell + i, .site = from + i};
        if (!to->cuts[word])
            to->cuts[word] = 0xff;
        feed(&e, 1);
    }
}

/* Pages that were never seen need no work. */
static void clear(uptr addr, size_t n)
{
    bool few = n >> DH_PAGE_SHIFT <= pages.n;
    for (u32 i = 0; !few && i < pages.n; i++) {
        uptr at = pages.keys[i] << DH_PAGE_SHIFT;
        uptr lo = at > addr ? at : addr, hi = at + DH_PAGE < addr + n ? at + DH_PAGE : addr + n;
        if (lo < hi)
            feed_range(DH_OP_RANGE_NEW, (i << DH_PAGE_SHIFT) + (u32)(lo - at), 0, (u32)(hi - lo));
    }
    for (uptr at = addr, end = addr + n; few && at < end;) {
        uptr stop = DH_ALIGN_DOWN(at, DH_PAGE) + DH_PAGE;
        u32 cell = page_cell(at, false);
        stop = stop < end ? stop : end;
        if (cell != UINT32_MAX)
            feed_range(DH_OP_RANGE_NEW, cell + (u32)(at & (DH_PAGE - 1)), 0, (u32)(stop - at));
        at = stop;
    }
}

static void move_part(u32 op, uptr to, uptr from, size_t n, bool down, bool bytes)
{
    u32 source = page_cell(from, false), target = source == UINT32_MAX ? source : page_cell(to, true);
    u32 cell = target + (u32)(to & (DH_PAGE - 1)), before = source + (u32)(from & (DH_PAGE - 1));
    if (target == UINT32_MAX)
        clear(to, n);
    else if (bytes)
        feed_bytes(op, cell, before, (u32)n, down);
    else
        feed_range(op, cell, before, (u32)n);
}

static void move(u32 op, uptr to, uptr from, size_t n)
{
    bool overlap = to < from + n && from < to + n, down = overlap && to > from;
    bool bytes = overlap || ((to | from | n) & 7);
    const uptr within = DH_PAGE - 1;
    for (size_t done = 0, part; done < n && !off; done += part) {
        uptr t = down ? to + n - done : to + done, f = down ? from + n - done : from + done;
        size_t one = down ? ((t - 1) & within) + 1 : DH_PAGE - (t & within);
        size_t other = down ? ((f - 1) & within) + 1 : DH_PAGE - (f & within);
        part = one < other ? one : other;
        part = part < n - done ? part : n - done;
        move_part(op, down ? t - part : t, down ? f - part : f, part, down, bytes);
    }
}

static void lab_memory(struct dh_thread *t, u32 op, uptr addr, size_t n, uptr from)
{
    if (idle)
        return;
    dh_lock_take(&lock);
    if (op == DH_OP_RANGE_NEW)
        clear(addr, n);
    else
        move(op, addr, from, n);
    if (op == DH_OP_RANGE_MOVE && t && t->language)
        dh_objects_move(&objects, addr, from, n);
    dh_lock_drop(&lock);
}

static void lab_block(struct dh_thread *t, uptr addr, size_t n)
{
    lab_memory(t, DH_OP_RANGE_NEW, addr, DH_ALIGN_UP(n, 16), 0);
}

static void lab_forget(struct dh_thread *t, uptr addr, size_t n)
{
    (void)t;
    if (idle)
        return;
    dh_lock_take(&lock);
    dh_objects_forget(&objects, addr, n);
    dh_lock_drop(&lock);
}

static void lab_nothing(void)
{
}

/* In the child everything that other threads did is over, as if it had joined them. */
static void lab_fork_child(struct dh_thread *self)
{
    if (idle)
        return;
    dh_lock_take(&lock);
    for (u32 n = 1; n < dh_thread_uids(); n++)
        if (!dh_uid_eq(dh_uid_from(n), self->uid))
            feed_sync(self->uid, DH_OP_JOIN, 0, dh_tap_thread(dh_uid_from(n)));
    dh_lock_drop(&lock);
}

static void lab_each_lock(dh_lock_fn *fn)
{
    fn(&lock);
}

const struct dh_tap dh_tap_lab = {
    .thread_start = lab_start,
    .thread_end = lab_end,
    .access = lab_access,
    .sync = lab_sync,
    .release_foreign = lab_foreign,
    .atomic = lab_atomic,
    .thread = lab_thread,
    .memory = lab_memory,
    .block = lab_block,
    .forget = lab_forget,
    .modules = lab_nothing,
    .finish = lab_nothing,
    .fork_child = lab_fork_child,
    .each_lock = lab_each_lock,
};

/* ---- Start ---- */

static const struct dh_detector_ops *find(const char *name)
{
    static const char reference[] = "fasttrack-ref";
    if (strcmp(name, "fasttrack") == 0)
        return NULL; /* the fast engine */
    return strcmp(name, reference) == 0 ? dh_detector_find("fasttrack", 9)
                                        : dh_detector_find(name, strlen(name));
}

bool dh_lab_wanted(void)
{
    if (strcmp(dh_opts.detector, "fasttrack") == 0)
        return false;
    ops = find(dh_opts.detector);
    if (!ops || ops->whole_trace) {
        dh_sys_say(ops ? "this detector needs the whole trace: record the program and analyse the recording"
                       : "there is no such detector; `deadheat detectors` lists them");
        dh_sys3(SYS_exit_group, 2, 0, 0);
    }
    idle = !ops->own_size && !ops->thread_size && !ops->lock_size && !ops->cell_size;
    host = dh_host_new(on_race, NULL);
    if (!host || dh_host_add(host, ops) != 0)
        dh_runtime_degrade("no memory for the detector");
    words.size = sizeof(struct words);
    return true;
}

const char *dh_lab_detector(void)
{
    return dh_tap == &dh_tap_lab ? dh_opts.detector : "fasttrack";
}

const char *dh_lab_guarantee(void)
{
    return dh_guarantee_name(dh_tap == &dh_tap_lab ? ops->guarantee : DH_PRECISE);
}
