/*
 * fasttrack.c - FastTrack, the plain reference version of the runtime's fast engine.
 *
 * Paper: Flanagan and Freund, "FastTrack: Efficient and Precise Dynamic Race Detection", CACM 53(11), 2010,
 * figures 3 and 4. Guarantee: precise. It reports a race on a variable if and only if the trace has one
 * there, and the first race of each variable at the right event; of the later races of a variable it may
 * report fewer than there are. Departures: rule READ SAME EPOCH also covers shared reads (the paper names
 * this extension); after a race the analysis continues as if there had been none; sites are stored with
 * epochs, for the reports.
 *
 * An epoch is clock << 32 | thread; 0 is the minimal epoch. Bit 63 of a cell's `r` says that the rest is a
 * pointer to the marks of several readers, so clocks end at 2^31. The capacity for marks is stored in the
 * cell, not with the marks: so only the reader's own mark is touched, which takes one cache line. (With very
 * many threads that number is IN_CHUNKS and how many chunks the marks are in: by_thread.h.)
 */
#include "detect/drive.h"
#include "detect/hb.h"

struct cell {
    u64 w;
    u64 r;
    u32 w_site;
    u32 r_site; /* of a shared cell: how many marks, or chunks of them */
};

#define SHARED (1ull << 63)
#define IN_CHUNKS (1u << 31)

/* The readers of a shared cell. */
DH_INLINE struct dh_marks marks_of(const struct cell *x)
{
    u32 n = x->r_site, chunks = n & IN_CHUNKS ? n & ~IN_CHUNKS : 0;
    return (struct dh_marks){
        .by = {.items = (void *)(uptr)(x->r & ~SHARED), .n = chunks ? 0 : n, .chunks = chunks}};
}

static void set_marks(struct cell *x, struct dh_marks m)
{
    x->r = m.by.items ? SHARED | (u64)(uptr)m.by.items : 0;
    x->r_site = m.by.chunks ? IN_CHUNKS | m.by.chunks : m.by.n;
}

static void mark(struct dh_detector *d, struct cell *x, u32 tid, u32 clock, u32 site)
{
    struct dh_marks m = marks_of(x);
    u32 had = m.by.n;
    dh_marks_set(d, &m, tid, clock, site);
    if (DH_UNLIKELY(tid >= had))
        set_marks(x, m);
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
    struct dh_marks m = {0};
    if (dh_marks_set(d, &m, (u32)x->r, (u32)(x->r >> 32), x->r_site) &&
        dh_marks_set(d, &m, t->tid, t->clock, e->site))
        set_marks(x, m);
}

static void read(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct dh_hb_thread *t = thread;
    struct cell *x = cell;
    u64 now = epoch_of(t);
    if (x->r == now)
        return; /* READ SAME EPOCH */
    if (x->r & SHARED) {
        struct dh_marks m = marks_of(x);
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
    if (x->r & SHARED) {
        struct dh_marks m = marks_of(x);
        dh_marks_soon(&m, e->thread);
    }
}

static void copy(struct dh_detector *d, void *to, const void *from)
{
    struct cell *x = to;
    *x = *(const struct cell *)from;
    if (!(x->r & SHARED))
        return;
    struct dh_marks own = {0}, shared = marks_of(x);
    dh_marks_copy(d, &own, &shared);
    set_marks(x, own);
}

static void drop(struct dh_detector *d, void *cell)
{
    struct cell *x = cell;
    if (x->r & SHARED) {
        struct dh_marks m = marks_of(x);
        dh_marks_drop(d, &m);
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
        struct dh_marks m = marks_of(x);
        dh_marks_report(d, e, &m, &t->c, false);
        drop(d, x);
    } else if (DH_UNLIKELY(!happened(x->r, t))) { /* WRITE EXCLUSIVE */
        dh_detect_race(d, e, (u32)x->r, x->r_site, false);
    }
    x->w = now;
    x->w_site = e->site;
}

DH_DRIVE(read, write, soon, struct cell);

const struct dh_detector_ops dh_detector_fasttrack = {
    .name = "fasttrack",
    .paper =
        "Flanagan, Freund: FastTrack: Efficient and Precise Dynamic Race Detection (PLDI 2009, CACM 2010)",
    .guarantee = DH_PRECISE,
    .summary = "happens-before with epochs; finds the first race of every racy variable",
    .cell_size = sizeof(struct cell),
    DH_HB_FULL,
    .read = read,
    .write = write,
    .soon = soon,
    .accesses = accesses,
    .cell_drop = drop,
    .cell_copy = copy,
};
