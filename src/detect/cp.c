/*
 * cp.c - causally-precedes: the first order weaker than happens-before that is sound for predicting, by
 * closure over windows.
 *
 * Paper: Smaragdakis, Evans, Sadowski, Yi, Flanagan, "Sound Predictive Race Detection in Polynomial Time",
 * POPL 2012.
 *
 * The order is the smallest with (a) a release before a later acquisition of the same lock if the
 * two sections contain conflicting accesses; (b) the same if they contain accesses that are ordered; (c) it
 * may be continued by happens-before on either side. Fork and join belong to it. Two conflicting accesses
 * that it does not order are a race.
 *
 * Guarantee: predictive-sound. The theorem promises only that the first race is real (or that there is a
 * deadlock); here a race is reported only if osr finds a reordering that shows it, with a witness that was
 * checked (detect/witness.h says up to which number). What osr cannot confirm, the artefacts after the first
 * race among it, is not reported.
 *
 * Departures: windows, of DEFAULT_WINDOW events or as the user says, each half
 * over the one before. What that loses: pairs further apart than a window are never seen, and those further
 * apart than half of one only by luck. What it does not see outside a window (an access, in a section that
 * reaches over the edge, that would have ordered two sections) makes the order weaker, so a pair may be taken
 * for a race that the order of the whole trace has ordered; it still needs its witness. One pair is reported
 * per later access. Synchronisation other than mutexes orders as fork and join do, see detect/predict.h.
 * Atomic accesses count as conflicting in rule (a), even two of them, which orders more.
 */
#include "detect/cp.h"

#include <errno.h>

#include "detect/osr.h"

enum { DEFAULT_WINDOW = 4096, TRIES = 16 };

struct cp {
    struct dh_predict p;
    struct dh_cp_window window;
    struct dh_osr_order order;
    struct dh_witness witness;
    u32 *cut;
    u32 *newest;    /* of each object: its last access in the window, + 1 */
    u32 *older;     /* of each event of the window: the access to its object before it, + 1 */
    u32 *ruled_out; /* of each thread: the access, + 1, after all of whose accesses the one in question comes
                     */
};

/* The accesses before e, newest first: the first ones that are not ordered are tried. */
static int find(struct cp *c, u32 e)
{
    const struct dh_predict *p = &c->p;
    const struct dh_event *events = p->trace->events;
    u32 tries = 0;
    for (u32 i = c->newest[p->object[e]]; i && tries < TRIES; i = c->older[i - 1 - c->window.from]) {
        u32 earlier = i - 1, u = events[earlier].thread;
        if (!dh_predict_conflict(&events[earlier], &events[e]) || c->ruled_out[u] == e + 1)
            continue;
        if (dh_cp_ordered(&c->window, earlier, events[e].thread)) {
            c->ruled_out[u] = e + 1;
            continue;
        }
        tries++;
        if (dh_osr_pair(&c->order, c->cut, earlier, e))
            return dh_witness_report(&c->witness, c->cut, c->order.n ? c->order.level : NULL, c->order.top,
                                     earlier, e);
    }
    return 0;
}

/* Races whose later access is one of at .. to - 1. */
static int look(struct cp *c, u32 from, u32 at, u32 to)
{
    const struct dh_predict *p = &c->p;
    int rc = dh_cp_close(&c->window, from, to) ? 0 : -ENOMEM;
    if (rc)
        return rc;
    dh_cp_begin(&c->window);
    for (u32 e = from; e < to && !rc; e++) {
        dh_cp_pass(&c->window, e);
        if (!dh_event_is_access(&p->trace->events[e]))
            continue;
        if (e >= at)
            rc = find(c, e);
        c->older[e - from] = c->newest[p->object[e]];
        c->newest[p->object[e]] = e + 1;
    }
    for (u32 e = from; e < to; e++) {
        if (dh_event_is_access(&p->trace->events[e]))
            c->newest[p->object[e]] = 0;
    }
    return rc;
}

static int prepare(struct cp *c, struct dh_detector *d, const struct dh_trace *trace, u32 window)
{
    int rc = dh_predict_init(&c->p, d, trace);
    if (!rc)
        rc = dh_cp_init(&c->window, &c->p);
    if (!rc)
        rc = dh_osr_order_init(&c->order, &c->p);
    c->witness.p = &c->p;
    c->cut = dh_detect_alloc(d, ((size_t)trace->threads + 1) * sizeof(u32));
    c->ruled_out = dh_detect_alloc(d, ((size_t)trace->threads + 1) * sizeof(u32));
    c->newest = dh_detect_alloc(d, ((size_t)c->p.objects + 1) * sizeof(u32));
    c->older = dh_detect_alloc(d, ((size_t)window + 1) * sizeof(u32));
    return !rc && d->failed ? -ENOMEM : rc;
}

static int run(struct dh_detector *d, const struct dh_trace *trace)
{
    struct cp *c = d->own;
    u64 window = d->window ? d->window : DEFAULT_WINDOW;
    if (window > trace->n)
        window = trace->n;
    if (window < 2)
        window = 2; /* a step of at least one event */
    int rc = prepare(c, d, trace, (u32)window);
    u64 at = 0, from = 0;
    while (!rc && at < trace->n) {
        u64 to = from + window < trace->n ? from + window : trace->n;
        rc = look(c, (u32)from, (u32)at, (u32)to);
        at = to;
        from += window / 2;
    }
    return rc;
}

const struct dh_detector_ops dh_detector_cp = {
    .name = "cp",
    .paper =
        "Smaragdakis, Evans, Sadowski, Yi, Flanagan: Sound Predictive Race Detection in Polynomial Time "
        "(POPL 2012)",
    .guarantee = DH_PREDICTIVE_SOUND,
    .summary =
        "causally-precedes, closed over windows of 4096 events (--window); only races that a reordering "
        "proves",
    .own_size = sizeof(struct cp),
    .whole_trace = run,
};
