/*
 * collect.c - finds the access ids no cell names any more and frees them, while the program keeps running.
 *
 * A concurrent mark and sweep. Two facts make it short:
 *
 *  - Inlined code never keeps an id: it only compares a cell with the thread's own current range, whose
 *    blocks are never freed. So only threads inside the runtime matter, and they are there for
 *    nanoseconds: a grace period is "everyone was outside once".
 *  - Ids travel in one way: a thread stores ids of its own current epoch (young, never swept), or a
 *    history built from what it just read in the same cell. So an id that is in no cell when its cell is
 *    scanned can come back only through a history being made, which marks (history.c), or through copied
 *    shadow, which marks too (copy.c).
 *
 *   generation + 1; wait for grace     from here on histories that are made or found are marked
 *   scan all resident shadow, mark     and clear cells that happened before every live thread
 *   generation + 1; wait for grace     from here on nobody remembers an unmarked cell
 *   sweep
 *
 * A thread that enters the runtime compares its generation with the global one and first empties its memo
 * tables (dh_thread_enter). The entering side uses plain stores: the membarrier system call supplies the
 * fence, from this side, where it is rare.
 */
#include "runtime/shadow/collect.h"
#include "runtime/shadow/cells.h"

#include "base/pool.h"
#include "base/sys.h"
#include "runtime/init.h"
#include "runtime/shadow/history.h"
#include "runtime/shadow/pair.h"
#include "runtime/shadow/region.h"
#include "runtime/shadow/split.h"
#include "runtime/shadow/touched.h"
#include "runtime/shadow/valid.h"
#include "runtime/threads/period.h"

volatile u32 dh_collect_gen = 1; /* written under `lock` */
static struct dh_lock lock = DH_LOCK_INIT(DH_RANK_COLLECT);
static u32 number; /* of the collection; the mark histories get */
static volatile bool marking;

bool dh_collect_marking(void)
{
    return marking;
}

void dh_collect_mark_cell(dh_cell_t cell)
{
    if (dh_cell_is_split(cell)) {
        struct dh_bytes b;
        dh_split_read_taken(cell, &b);
        dh_split_mark(cell);
        for (u32 k = 0; k < 4; k++)
            dh_collect_mark_cell(b.cell[k]);
    } else if (dh_cell_is_history(cell)) {
        dh_history_mark(cell);
    } else if (!dh_cell_is_none(cell)) {
        dh_ids_mark(dh_cell_id(cell));
    }
}

/* Wait until every other thread has been outside the runtime, or has entered it after the new generation
 * became visible. False if that cannot be known (any more). */
static bool wait_for_grace(struct dh_thread *self)
{
    DH_ASSERT(dh_lock_is_mine(&lock) && (!self || self->in_rt));
    dh_collect_gen++;
    if (!dh_sys_membarrier()) {
        dh_runtime_lose_membarrier();
        return false;
    }
    if (self)
        dh_thread_forget_cells(self);
    /* Check all of them anew each time, without keeping the lock: a thread in the runtime may be waiting for
     * it. */
    bool all;
    do {
        all = true;
        dh_lock_take(&dh_threads_lock);
        for (struct dh_thread *t = dh_threads; t && all; t = t->next)
            all = t == self || t->state != DH_THREAD_RUNNING || !t->in_rt || t->gen == dh_collect_gen;
        dh_lock_drop(&dh_threads_lock);
        if (!all)
            dh_sys_yield();
    } while (!all);
    return true;
}

/* The clock every live thread has reached: an access at or below it cannot race with any future one. */
static bool common_clock(struct dh_vclock *ret)
{
    dh_lock_take(&dh_threads_lock);
    bool first = true, ok = true;
    for (struct dh_thread *t = dh_threads; t && ok; t = t->next) {
        /* A thread waiting to join another will acquire the other's clock, and that one is included here too.
         * The main thread of many programs does nothing but wait. */
        if (t->state == DH_THREAD_FINISHED || dh_thread_will_know(t))
            continue;
        if (t->state == DH_THREAD_NEW) { /* gets its creator's clock only when it starts */
            ok = false;
            break;
        }
        /* The owner may be growing it: the length first, since the array is published before it. */
        u32 n = __atomic_load_n(&t->vc.n, __ATOMIC_ACQUIRE);
        const u32 *c = __atomic_load_n(&t->vc.c, __ATOMIC_ACQUIRE);
        if (first) {
            u32 *old, cap;
            ok = dh_vclock_reserve(ret, n, &old, &cap);
            for (u32 i = 0; ok && i < n; i++)
                ret->c[i] = __atomic_load_n(&c[i], __ATOMIC_RELAXED);
            ret->n = n;
        } else {
            ret->n = n < ret->n ? n : ret->n;
            for (u32 i = 0; i < ret->n; i++) {
                u32 theirs = __atomic_load_n(&c[i], __ATOMIC_RELAXED);
                ret->c[i] = theirs < ret->c[i] ? theirs : ret->c[i];
            }
        }
        first = false;
    }
    dh_lock_drop(&dh_threads_lock);
    return ok;
}

/* What is known about a block of ids; determined when the first of them is met. */
enum verdict {
    UNKNOWN,
    DEAD,  /* all of them */
    LIVE,  /* all of them, and marked */
    MIXED, /* each must be checked */
};

struct scan {
    struct dh_thread *self;
    struct dh_vclock common;
    bool can_clear;
    u64 cells;
    dh_cell_t last_dead, last_live;         /* the previous cell of each kind: runs are common */
    dh_cell_t none;                         /* what a dead cell of the current page becomes */
    u8 resident[DH_REGION_SIZE / 4096];     /* one byte per page, from mincore */
    u8 blocks[DH_ID_MAX / DH_ID_BLOCK + 1]; /* enum verdict; few of its pages are touched */
};

static enum verdict judge(struct scan *s, dh_id_t id)
{
    DH_ASSERT(dh_valid_id(id));
    const struct dh_id_block *b = dh_id_block(id);
    u32 known = s->can_clear ? dh_vclock_get(&s->common, b->slot) : 0;
    u8 v = MIXED;
    if (s->can_clear && known >= b->youngest) {
        v = DEAD;
    } else if (!s->can_clear || known < dh_id_first(id)->clock) {
        v = LIVE;
        dh_ids_mark(id);
    }
    /* A block still being filled gets younger ids: a verdict on all of it must not be cached for later ids.
     * Those cannot be dead, and blocks in use survive without a mark. */
    if (v != DEAD)
        s->blocks[dh_id_block_number(id)] = v;
    return v;
}

static bool id_dead(struct scan *s, dh_id_t id)
{
    u8 v = s->blocks[dh_id_block_number(id)];
    if (DH_UNLIKELY(v == UNKNOWN))
        v = judge(s, id);
    return v == DEAD || (v == MIXED && dh_vclock_get(&s->common, dh_id_slot(id)) >= dh_id_clock(id));
}

static bool is_dead(struct scan *s, dh_cell_t cell)
{
    if (dh_cell_is_simple(cell))
        return dh_cell_is_none(cell) || id_dead(s, dh_cell_id(cell));
    const struct dh_history *h = dh_history_get(cell);
    if (h->by_slot)
        return false; /* it may be changing while we look */
    for (u32 i = 0; i < h->n; i++)
        if (!id_dead(s, dh_cell_id(h->cells[i])))
            return false;
    return true;
}

/* Split cells change under us; after all bytes are scanned, what *p names is marked or gone. */
static void scan_split(struct scan *s, dh_cell_t *p, dh_cell_t cell)
{
    struct dh_bytes b;
    for (; dh_cell_is_split(cell); cell = dh_cell_load(p)) {
        if (!dh_split_read(p, cell, &b))
            continue;
        bool dead = true;
        for (u32 k = 0; k < 4; k++)
            dead = dead && is_dead(s, b.cell[k]);
        if (dead && dh_cell_cas_relaxed(p, cell, s->none)) {
            dh_split_free(s->self, cell);
            return;
        }
        break;
    }
    dh_collect_mark_cell(cell);
}

static void scan_cells(struct scan *s, dh_cell_t *cell, dh_cell_t *end)
{
    for (; cell < end; cell += 2) {
        dh_pair_t two = dh_pair_load(cell);
        dh_cell_t lo = dh_pair_lo(two);
        if (dh_pair_is_even(two) &&
            (dh_cell_is_none(lo) || dh_cell_eq(lo, s->last_live))) { /* most are, with their neighbours */
            cell += dh_cells_equal(cell, (size_t)(end - cell), lo) & ~(size_t)1;
            cell -= 2;
            continue;
        }
        for (int half = 0; half < 2; half++) {
            dh_cell_t c = half ? dh_pair_hi(two) : lo;
            if (dh_cell_is_none(c) || dh_cell_eq(c, s->last_live))
                continue;
            if (dh_cell_is_split(c)) {
                scan_split(s, &cell[half], c);
                continue;
            }
            if (dh_cell_eq(c, s->last_dead) || is_dead(s, c)) {
                s->last_dead = c;
                if (!dh_cell_eq(c, s->none))
                    dh_cell_cas_relaxed(&cell[half], c, s->none);
                continue;
            }
            s->last_live = c;
            dh_collect_mark_cell(c);
        }
    }
}

/* When sampling, the write plane also says where something was read (DH_CELL_READS): where that may apply, a
 * dead write is replaced by it. */
static dh_cell_t none_in(uptr page, u32 plane)
{
    bool reads = dh_period_on && plane == DH_NTH_WRITE && (dh_touched_mark(page) & DH_TOUCHED_READERS);
    return reads ? DH_CELL_READS : DH_CELL_NONE;
}

static void scan_run(void *ctx, uptr lo, uptr hi)
{
    struct scan *s = ctx;
    DH_ASSERT(marking && dh_lock_is_mine(&lock));
    for (u32 plane = 0; plane < DH_PLANES; plane++) {
        for (uptr at = lo; at < hi; at += DH_REGION_SIZE) {
            uptr n = DH_REGION_SIZE;
            if (!dh_region_has_plane(at, plane))
                continue;
            if (!dh_sys_resident(dh_plane_nth(at, plane), n, s->resident))
                for (uptr i = 0; i < n / 4096; i++)
                    s->resident[i] = 1;
            for (uptr i = 0; i < n / 4096; i++) {
                if (!(s->resident[i] & 1))
                    continue;
                dh_cell_t *page = (dh_cell_t *)dh_plane_nth(at + i * 4096, plane);
                s->none = none_in(at + i * 4096, plane);
                scan_cells(s, page, page + 1024);
                s->cells += 1024;
            }
        }
    }
}

bool dh_collect_quiesce(struct dh_thread *self)
{
    /* A running collection waits for us meanwhile, unless we declare that we remember no cells. */
    while (!dh_lock_try(&lock)) {
        if (self)
            dh_thread_forget_cells(self);
        dh_sys_yield();
    }
    bool known = wait_for_grace(self);
    dh_lock_drop(&lock);
    return known;
}

void dh_collect_run(struct dh_thread *self)
{
    /* A second thread need not wait: there are enough ids until the collection is done. */
    if (!dh_runtime_has_membarrier() || !dh_lock_try(&lock))
        return;
    struct scan *s = dh_pool_alloc(sizeof(*s));
    if (s && (dh_ids_want_collection() || dh_history_want_collection() || dh_split_want_collection())) {
        s->self = self;
        dh_ids_collect_begin();
        dh_history_marking(true, ++number);
        dh_split_marking(true);
        marking = true;
        if (wait_for_grace(self)) {
            s->can_clear = common_clock(&s->common);
            dh_region_each(scan_run, s);
            if (wait_for_grace(self)) {
                dh_split_sweep();
                dh_history_sweep();
                dh_ids_sweep(s->cells);
                dh_runtime_count(DH_COUNT_COLLECTIONS);
            }
        }
        marking = false;
        dh_history_marking(false, 0);
        dh_split_marking(false);
        dh_pool_free(s->common.c, s->common.cap * sizeof(u32));
    }
    dh_pool_free(s, sizeof(*s));
    dh_lock_drop(&lock);
}

void dh_collect_each_lock(dh_lock_fn *fn)
{
    fn(&lock);
}
