/*
 * fasttrack.c - FastTrack, the plain reference version beside the fast engine of the runtime.
 *
 * Paper: Flanagan and Freund, "FastTrack: Efficient and Precise Dynamic Race Detection", CACM 53(11), 2010,
 * figures 3 and 4. Guarantee: precise. It reports a race on a variable if and only if the trace has one
 * there, and the first race of each variable at the right event; of the later races of a variable it may
 * report fewer than there are. Departures: rule READ SAME EPOCH also covers shared reads (the paper names
 * this extension); after a race the analysis goes on as if there had been none; sites are kept beside epochs,
 * for the reports.
 *
 * An epoch is clock << 32 | thread; 0 is the minimal epoch. Bit 63 of a cell's `r` says that the rest is a
 * pointer to the marks of several readers, so clocks end at 2^31.
 */
#include <string.h>

#include "detect/hb.h"

struct cell {
    u64 w;
    u64 r;
    u32 w_site;
    u32 r_site;
};

#define SHARED (1ull << 63)

DH_INLINE struct dh_mark *block_of(u64 r)
{
    return (struct dh_mark *)(uptr)(r & ~SHARED);
}

DH_INLINE struct dh_marks marks_of(u64 r)
{
    struct dh_mark *block = block_of(r);
    return (struct dh_marks){.m = block + 1, .n = block->clock};
}

/* The cell's shared reads get a mark for tid. */
static DH_NOINLINE bool make_room(struct dh_detector *d, struct cell *x, u32 tid)
{
    struct dh_mark *old = x->r & SHARED ? block_of(x->r) : NULL;
    u32 had = old ? old->clock + 1 : 0, size = had ? had : 4;
    while (size <= tid + 1)
        size *= 2;
    struct dh_mark *block = dh_detect_alloc(d, size * sizeof(*block));
    if (!block)
        return false;
    if (old)
        memcpy(block, old, had * sizeof(*old));
    dh_detect_free(d, old, had * sizeof(*old));
    block->clock = size - 1;
    x->r = SHARED | (u64)(uptr)block;
    return true;
}

static void mark(struct dh_detector *d, struct cell *x, u32 tid, u32 clock, u32 site)
{
    if (tid < block_of(x->r)->clock || make_room(d, x, tid))
        block_of(x->r)[1 + tid] = (struct dh_mark){.clock = clock, .site = site};
}

DH_INLINE u64 epoch_of(const struct dh_hb_thread *t)
{
    return (u64)t->clock << 32 | t->tid;
}

DH_INLINE bool happened(u64 epoch, const struct dh_hb_thread *t)
{
    return (epoch >> 32) <= dh_vc_get(&t->c, (u32)epoch);
}

/* READ SHARE: the last read and this one are concurrent, so both must be kept. */
static DH_NOINLINE void share(struct dh_detector *d, const struct dh_event *e, struct dh_hb_thread *t,
                              struct cell *x)
{
    u64 last = x->r;
    if (make_room(d, x, (u32)last > t->tid ? (u32)last : t->tid)) {
        mark(d, x, (u32)last, (u32)(last >> 32), x->r_site);
        mark(d, x, t->tid, t->clock, e->site);
    }
}

static void read(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hb_thread *t = thread;
    struct cell *x = cell;
    u64 now = epoch_of(t);
    if (x->r == now)
        return; /* READ SAME EPOCH */
    if (x->r & SHARED) {
        struct dh_marks m = marks_of(x->r);
        if (dh_marks_get(&m, t->tid) == t->clock)
            return;
    }
    if (DH_UNLIKELY(!happened(x->w, t)))
        dh_detect_race(d, e, (u32)x->w, x->w_site, true);
    if (x->r & SHARED) {
        mark(d, x, t->tid, t->clock, e->site); /* READ SHARED */
    } else if (happened(x->r, t)) {
        x->r = now; /* READ EXCLUSIVE */
        x->r_site = e->site;
    } else {
        share(d, e, t, x);
    }
}

static void soon(const struct dh_event *e, const void *cell)
{
    const struct cell *x = cell;
    if (x->r & SHARED)
        __builtin_prefetch(block_of(x->r) + 1 + e->thread, 1);
}

static void copy(struct dh_detector *d, void *to, const void *from)
{
    struct cell *x = to;
    *x = *(const struct cell *)from;
    if (!(x->r & SHARED))
        return;
    const struct dh_mark *block = block_of(x->r);
    struct dh_mark *own = dh_detect_dup(d, block, (block->clock + 1) * sizeof(*block));
    x->r = own ? SHARED | (u64)(uptr)own : 0;
}

static void drop(struct dh_detector *d, void *cell)
{
    struct cell *x = cell;
    if (x->r & SHARED) {
        dh_detect_free(d, block_of(x->r), (block_of(x->r)->clock + 1) * sizeof(struct dh_mark));
        x->r = 0;
    }
}

static void write(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hb_thread *t = thread;
    struct cell *x = cell;
    u64 now = epoch_of(t);
    if (x->w == now)
        return; /* WRITE SAME EPOCH */
    if (DH_UNLIKELY(!happened(x->w, t)))
        dh_detect_race(d, e, (u32)x->w, x->w_site, true);
    if (DH_UNLIKELY(x->r & SHARED)) { /* WRITE SHARED */
        struct dh_marks m = marks_of(x->r);
        dh_marks_report(d, e, &m, &t->c, false);
        drop(d, x);
    } else if (DH_UNLIKELY(!happened(x->r, t))) { /* WRITE EXCLUSIVE */
        dh_detect_race(d, e, (u32)x->r, x->r_site, false);
    }
    x->w = now;
    x->w_site = e->site;
}

const struct dh_detector_ops dh_detector_fasttrack = {
    .name = "fasttrack",
    .paper =
        "Flanagan, Freund: FastTrack: Efficient and Precise Dynamic Race Detection (PLDI 2009, CACM 2010)",
    .guarantee = DH_PRECISE,
    .summary = "happens-before with epochs; finds the first race of every racy variable",
    .thread_size = sizeof(struct dh_hb_thread),
    .lock_size = sizeof(struct dh_hb_lock),
    .cell_size = sizeof(struct cell),
    DH_HB_FULL,
    .read = read,
    .write = write,
    .soon = soon,
    .cell_drop = drop,
    .cell_copy = copy,
};
