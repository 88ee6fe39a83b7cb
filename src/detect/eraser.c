/*
 * eraser.c - Eraser's lockset refinement with its states for initialisation and read-sharing.
 *
 * Paper: Savage et al., "Eraser: A Dynamic Data Race Detector for Multithreaded Programs", TOCS 15(4), 1997,
 * sections 2.2 to 2.4. Guarantee: none in either direction (unsound): false alarms where threads are ordered
 * by anything but locks; races during initialisation and on data that is only read after its hand-over are
 * missed. Departures: every access that leaves the set of candidate locks empty is reported, not only the
 * first; the earlier access is that of the last other thread, as far as it is remembered.
 */
#include "detect/lockset.h"

enum { VIRGIN, EXCLUSIVE, SHARED, SHARED_MODIFIED };

struct cell {
    u32 state;
    u32 set;    /* candidate locks; meaningful from SHARED on */
    u32 thread; /* of the last access */
    u32 site;
    u32 other_thread; /* of the last access of another thread than that */
    u32 other_site;
    bool write, other_write;
};

static void init(struct dh_detector *d)
{
    dh_locksets_init(d->own, d);
}

static void acquire(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    (void)lock;
    dh_held_acquire(d->own, thread, e);
}

static void release(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    (void)lock;
    dh_held_release(d->own, thread, e);
}

static void remember(struct cell *x, const struct dh_event *e)
{
    if (x->state != VIRGIN && x->thread != e->thread) {
        x->other_thread = x->thread;
        x->other_site = x->site;
        x->other_write = x->write;
    }
    x->thread = e->thread;
    x->site = e->site;
    x->write = e->op == DH_OP_WRITE;
}

/* Figure 4 of the paper. */
static void access(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    struct cell *x = cell;
    bool write = e->op == DH_OP_WRITE;
    u32 held = dh_held_for(thread, e);
    u32 owner = x->thread;
    remember(x, e);
    switch (x->state) {
    case VIRGIN:
        x->state = EXCLUSIVE;
        return;
    case EXCLUSIVE:
        if (owner == e->thread)
            return;
        x->state = write ? SHARED_MODIFIED : SHARED;
        x->set = held; /* all locks, met with those held now */
        break;
    default:
        if (write)
            x->state = SHARED_MODIFIED;
        x->set = dh_lockset_meet(d->own, x->set, held);
    }
    if (x->state == SHARED_MODIFIED && x->set == 0)
        dh_detect_race(d, e, x->other_thread, x->other_site, x->other_write);
}

const struct dh_detector_ops dh_detector_eraser = {
    .name = "eraser",
    .paper = "Savage, Burrows, Nelson, Sobalvarro, Anderson: Eraser (TOCS 1997)",
    .guarantee = DH_UNSOUND,
    .summary =
        "locksets only: some lock must be held at every access; false alarms on fork-join and barriers",
    .own_size = sizeof(struct dh_locksets),
    .thread_size = sizeof(struct dh_held),
    .cell_size = sizeof(struct cell),
    .init = init,
    .read = access,
    .write = access,
    .acquire = acquire,
    .release = release,
    .let_go = release,
};
