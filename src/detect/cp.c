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
 * checked (detect/witness.h says up to which number). What osr cannot confirm is not reported, including
 * artefacts after the first race.
 *
 * Departures: windows, of DEFAULT_WINDOW events or as the user says, each overlapping half of the one before.
 * What that loses: pairs further apart than a window are never seen, and those further apart than half of one
 * only by chance. What is outside a window (an access, in a section that crosses its boundary, that would
 * have ordered two sections) is not seen, which makes the order weaker, so a pair may look like a race
 * although the order of the whole trace orders it; it still needs its witness. One pair is reported per later
 * access; of each thread the last TRIES accesses that are not ordered are tried. Synchronisation other than
 * mutexes creates ordering like fork and join, see detect/predict.h. Atomic accesses count as conflicting in
 * rule (a), even two of them, which orders more.
 */
#include "detect/cp.h"

#include <errno.h>

#include "detect/osr.h"

/* docs/design/prediction.md has the measurement behind the window. */
enum { DEFAULT_WINDOW = 65536, TRIES = 16 };

/* The accesses of one thread to one object in the window, reads or writes. */
struct accesses {
    u32 thread;
    u32 newest; /* + 1 */
    u32 next;   /* + 1: of the same object, both reads or both writes */
};

struct cp {
    struct dh_predict p;
    struct dh_cp_window window;
    struct dh_osr_order order;
    struct dh_witness witness;
    u32 *cut;
    u32 *seen[2]; /* of each object: its reads and its writes in the window, + 1, last used first */
    struct accesses *accesses;
    u32 n_accesses;
    u32 *older; /* of each event of the window: the one before it in its accesses, + 1 */
};

/* Accesses of one thread, newest first: the first ones that are not ordered are tried. 1: the race was found.
 */
static int find_among(struct cp *c, const struct accesses *a, u32 e)
{
    const struct dh_event *events = c->p.trace->events;
    u32 tries = 0;
    for (u32 i = a->newest; i && tries < TRIES; i = c->older[i - 1 - c->window.from]) {
        u32 earlier = i - 1;
        if (!dh_predict_conflict(&events[earlier], &events[e]))
            continue;
        if (dh_cp_ordered(&c->window, earlier, events[e].thread))
            return 0; /* and so are all before it */
        tries++;
        if (dh_osr_pair(&c->order, c->cut, earlier, e) != DH_OSR_RACE)
            continue;
        int rc = dh_witness_due(&c->witness, earlier, e)
                     ? dh_osr_report(&c->order, &c->witness, c->cut, earlier, e)
                     : dh_witness_emit(&c->witness, false, earlier, e);
        return rc ? rc : 1;
    }
    return 0;
}

static int find(struct cp *c, u32 e)
{
    const struct dh_event *event = &c->p.trace->events[e];
    int rc = 0;
    for (u32 o = c->p.object[e]; o != DH_NONE; o = c->p.parent[o]) {
        for (u32 write = event->op == DH_OP_WRITE ? 0 : 1; write < 2; write++) {
            for (u32 k = c->seen[write][o]; k && rc == 0; k = c->accesses[k - 1].next) {
                if (c->accesses[k - 1].thread != event->thread)
                    rc = find_among(c, &c->accesses[k - 1], e);
            }
        }
    }
    return rc < 0 ? rc : 0;
}

static void add(struct cp *c, u32 e)
{
    const struct dh_event *event = &c->p.trace->events[e];
    u32 *head = &c->seen[event->op == DH_OP_WRITE][c->p.object[e]], *link = head, k;
    for (; (k = *link) && c->accesses[k - 1].thread != event->thread;)
        link = &c->accesses[k - 1].next;
    if (k) {
        *link = c->accesses[k - 1].next;
    } else {
        k = ++c->n_accesses;
        c->accesses[k - 1] = (struct accesses){.thread = event->thread};
    }
    c->older[e - c->window.from] = c->accesses[k - 1].newest;
    c->accesses[k - 1].newest = e + 1;
    c->accesses[k - 1].next = *head;
    *head = k;
}

/* Races whose later access is one of at .. to - 1. */
static int look(struct cp *c, u32 from, u32 at, u32 to)
{
    const struct dh_predict *p = &c->p;
    int rc = dh_cp_close(&c->window, from, to) ? 0 : -ENOMEM;
    if (rc)
        return rc;
    c->n_accesses = 0;
    dh_cp_begin(&c->window);
    for (u32 e = from; e < to && !rc; e++) {
        dh_cp_pass(&c->window, e);
        if (!dh_event_is_access(&p->trace->events[e]) || dh_event_is_check(&p->trace->events[e]))
            continue;
        if (e >= at && dh_detect_wants(p->d, p->trace->events[e].target))
            rc = find(c, e);
        add(c, e);
    }
    for (u32 e = from; e < to; e++) {
        if (dh_event_is_access(&p->trace->events[e]))
            c->seen[0][p->object[e]] = c->seen[1][p->object[e]] = 0;
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
    c->seen[0] = dh_detect_alloc(d, ((size_t)c->p.objects + 1) * sizeof(u32));
    c->seen[1] = dh_detect_alloc(d, ((size_t)c->p.objects + 1) * sizeof(u32));
    c->accesses = dh_detect_alloc(d, ((size_t)window + 1) * sizeof(*c->accesses));
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
        "causally-precedes, closed over windows of 65536 events (--window); only races that a reordering "
        "proves",
    .own_size = sizeof(struct cp),
    .whole_trace = run,
};
