/*
 * osr.c - optimistic sync-reversal races: reorderings that may also reverse critical sections if needed.
 *
 * Paper: Shi, Mathur, Pavlogiannis, "Optimistic Prediction of Synchronization-Reversal Data Races", ICSE
 * 2024.
 *
 * Guarantee: predictive-sound, and a superset of syncp. Every report has a witness that was checked
 * (detect/witness.h says up to which number).
 *
 * How: as in syncp a smallest cut is closed, but a section held by one of the two accesses stays open, and
 * every other section of that lock in the cut must end in it, even one that came later in the trace. That
 * section then has to be executed before the held one: a reversal. Conflicting accesses keep the order of the
 * trace, and so do all sections that are not held. osr_order.c decides whether such an order exists. Where
 * none does, any other order is tried too (osr_search.c): a section nested in a reversed one may have to be
 * reversed itself.
 *
 * Departures: written from the idea of optimistic closure and reversal as above, which may differ in detail
 * from the published algorithm. Whether reversals contradict each other is determined by following what comes
 * after each reversed acquisition (osr_reach.c), which is usually very little; the paper's bound is
 * quadratic, and so is the worst case here, so the steps of all these searches together are limited
 * (DH_OSR_STEPS per event). The search through other orders is not the paper's; it is exponential and has a
 * limit of its own (DH_OSR_SEARCH_STEPS). Questions that it leaves open are counted: races are lost, none is
 * invented. One pair is reported per later access. Per class of earlier accesses (thread, kind, locks held)
 * at most LOOK_AHEAD candidates are tried after one whose order fails only for the present, and as many in
 * other orders. Needs the whole trace, as syncp does.
 */
#include "detect/osr.h"

#include <errno.h>
#include <string.h>

#include "detect/syncp.h"

enum { LOOK_AHEAD = 64 };

/* The accesses of one class of syncp that held the same locks, taken in the same order, by their place in the
 * family. */
struct kind {
    u32 holding; /* of one of them */
    u32 first, last;
    u32 next; /* + 1: of the same class, used less recently; 0: none */
};

struct osr {
    struct dh_predict p;
    struct dh_syncp
        syncp; /* what it found, the family in hand and its classes; further races are noted here */
    struct dh_osr_order order;
    struct dh_witness witness;
    u32 *heads; /* kinds of each class, + 1 */
    u32 n_heads, cap_heads;
    struct kind *kinds;
    u32 n_kinds, cap_kinds;
    u32 *later; /* the next access of the kind of this access */
    u32 cap_later;
    struct dh_states states; /* by kind of the earlier and kind of the later accesses, each + 1 */
    u32 *ahead;              /* a cut to try with */
    bool open;               /* a question about the access in hand was left open */
};

static u32 event_of(const struct osr *o, u32 at)
{
    return o->syncp.accesses[at];
}

/* Room for the kinds of this class, the last one there is or one more. */
static bool head_for(struct osr *o, u32 class)
{
    if (class <= o->n_heads)
        return true;
    if (o->n_heads == o->cap_heads &&
        !dh_mem_grow(&o->p.d->mem, (void **)&o->heads, o->n_heads, &o->cap_heads, sizeof(*o->heads)))
        return false;
    o->heads[o->n_heads++] = 0;
    return true;
}

/* Adds the access; returns its kind, + 1. 0: no memory. */
static u32 add(struct osr *o, u32 class, u32 at)
{
    const struct dh_predict *p = &o->p;
    u32 holding = dh_predict_holding(p, event_of(o, at));
    if (!head_for(o, class))
        return 0;
    u32 *head = &o->heads[class - 1];
    o->later[at] = DH_NONE;
    for (u32 *link = head; *link; link = &o->kinds[*link - 1].next) {
        u32 k = *link;
        struct kind *kind = &o->kinds[k - 1];
        if (!dh_predict_same_locks(p, kind->holding, holding))
            continue;
        o->later[kind->last] = at;
        kind->last = at;
        *link = kind->next;
        kind->next = *head;
        return *head = k;
    }
    if (o->n_kinds == o->cap_kinds &&
        !dh_mem_grow(&p->d->mem, (void **)&o->kinds, o->n_kinds, &o->cap_kinds, sizeof(*o->kinds)))
        return 0;
    o->kinds[o->n_kinds++] = (struct kind){.holding = holding, .first = at, .last = at, .next = *head};
    return *head = o->n_kinds;
}

/* Tries candidates after one that is not ruled out for good but could not be ordered with e. */
static u32 look_ahead(struct osr *o, const struct dh_state *state, u32 from, u32 e)
{
    const struct dh_predict *p = &o->p;
    u32 tries = 0;
    memcpy(o->ahead, state->cut, p->threads * sizeof(*o->ahead));
    for (u32 at = o->later[from]; at != DH_NONE && tries < LOOK_AHEAD; at = o->later[at], tries++) {
        u32 i = event_of(o, at);
        if (p->local[i] < o->ahead[p->trace->events[i].thread])
            continue;
        dh_predict_absorb(p, o->ahead, i, false);
        enum dh_osr_closed closed = dh_osr_close(p, o->ahead, i, e);
        if (closed == DH_OSR_NO)
            return DH_NONE;
        if (closed == DH_OSR_CLOSED && dh_osr_order_find(&o->order, o->ahead, i, e) == DH_OSR_FOUND)
            return at;
    }
    return DH_NONE;
}

/* An access of kind k that races with e, which is of kind k2. */
static u32 find_in_kind(struct osr *o, u32 k, u32 k2, u32 e)
{
    const struct dh_predict *p = &o->p;
    struct dh_state *state = dh_states_at(&o->states, (u64)k << 32 | k2);
    if (!state)
        return DH_NONE;
    dh_predict_absorb(p, state->cut, e, false);
    for (;;) {
        u32 at = state->failed == DH_NONE ? o->kinds[k - 1].first : o->later[state->failed];
        if (at == DH_NONE)
            return DH_NONE;
        u32 i = event_of(o, at);
        enum dh_osr_closed closed = DH_OSR_EARLIER_IN;
        if (p->local[i] >= state->cut[p->trace->events[i].thread]) {
            dh_predict_absorb(p, state->cut, i, false);
            closed = dh_osr_close(p, state->cut, i, e);
        }
        if (closed == DH_OSR_NO)
            return DH_NONE;
        enum dh_osr_found found = DH_OSR_NEVER;
        if (closed == DH_OSR_CLOSED)
            found = dh_osr_order_find(&o->order, state->cut, i, e);
        if (found == DH_OSR_FOUND)
            return at;
        if (found == DH_OSR_NOT_NOW)
            return look_ahead(o, state, at, e);
        state->failed = at;
    }
}

/* Likewise, in any order. */
static u32 search_kind(struct osr *o, u32 k, u32 k2, u32 e)
{
    const struct dh_predict *p = &o->p;
    struct dh_state *state = dh_states_at(&o->states, (u64)k << 32 | k2);
    if (!state)
        return DH_NONE;
    u32 at = state->known == DH_NONE ? o->kinds[k - 1].first : state->known, tries = 0;
    u32 needed = dh_predict_needs(p, e, p->trace->events[event_of(o, at)].thread);
    while (o->later[at] != DH_NONE && p->local[event_of(o, at)] < needed)
        at = o->later[at];
    state->known = at;
    for (; at != DH_NONE && tries < LOOK_AHEAD; at = o->later[at], tries++) {
        if (p->local[event_of(o, at)] < needed)
            continue;
        enum dh_osr_answer answer = dh_osr_search(&o->order.search, event_of(o, at), e);
        if (answer == DH_OSR_RACE)
            return at;
        o->open |= answer == DH_OSR_OPEN;
    }
    return DH_NONE;
}

typedef u32 find_fn(struct osr *o, u32 k, u32 k2, u32 e);

static u32 find_in_classes(struct osr *o, u32 c, u32 k2, u32 e, find_fn *find)
{
    const struct dh_predict *p = &o->p;
    const struct dh_event *events = p->trace->events;
    u32 need = dh_predict_need(p, e);
    for (; c; c = o->syncp.classes[c - 1].next) {
        const struct dh_syncp_class *class = &o->syncp.classes[c - 1];
        if (class->thread == events[e].thread || (class->atomic && events[e].mode & DH_ATOMIC) ||
            dh_versions_has(&p->versions, need, class->thread, class->local))
            continue;
        /* Most recently used first: after the first that is known to e all are. */
        for (u32 k = o->heads[c - 1]; k; k = o->kinds[k - 1].next) {
            u32 last = event_of(o, o->kinds[k - 1].last);
            if (dh_versions_has(&p->versions, need, class->thread, p->local[last]))
                break;
            if (dh_predict_share_lock(p, dh_predict_holding(p, last), dh_predict_holding(p, e)))
                continue;
            u32 at = find(o, k, k2, e);
            if (at != DH_NONE)
                return at;
        }
    }
    return DH_NONE;
}

static u32 find(struct osr *o, u32 k2, u32 e, find_fn *find)
{
    bool write = o->p.trace->events[e].op == DH_OP_WRITE;
    u32 at = DH_NONE;
    for (u32 k = dh_syncp_object_of(&o->syncp, e); k != DH_NONE && at == DH_NONE; k = o->p.parent[k]) {
        const struct dh_syncp_object *x = dh_syncp_object(&o->syncp, k);
        if (dh_syncp_guarded(&o->syncp, k, e))
            continue;
        at = find_in_classes(o, x->writes, k2, e, find);
        if (at == DH_NONE && write)
            at = find_in_classes(o, x->reads, k2, e, find);
    }
    return at;
}

static int handle(struct osr *o, u32 at)
{
    u32 e = event_of(o, at), earlier = DH_NONE;
    u32 class = dh_syncp_add(&o->syncp, at), kind = class ? add(o, class, at) : 0;
    if (!kind)
        return -ENOMEM;
    if (dh_syncp_is_open(&o->syncp, e)) {
        o->open = false;
        earlier = find(o, kind, e, find_in_kind);
        if (earlier == DH_NONE)
            earlier = find(o, kind, e, search_kind);
        o->p.d->given_up += earlier == DH_NONE && o->open;
    }
    if (earlier != DH_NONE && !dh_syncp_note(&o->syncp, earlier, at))
        return -ENOMEM;
    return o->p.d->failed ? -ENOMEM : 0;
}

/* All races of the family. */
static int look(struct osr *o)
{
    int rc = 0;
    while (o->cap_later < o->syncp.n) {
        if (!dh_mem_grow(&o->p.d->mem, (void **)&o->later, 0, &o->cap_later, sizeof(*o->later)))
            return -ENOMEM;
    }
    o->n_heads = o->n_kinds = 0;
    dh_states_clear(&o->states);
    for (u32 at = 0; !rc && at < o->syncp.n; at++) {
        dh_syncp_soon(&o->syncp, at);
        rc = handle(o, at);
    }
    return rc;
}

/* The order that shows a race is computed again, by the first method that finds one, if a witness is
 * wanted. */
static int report(struct osr *o, u32 earlier, u32 now)
{
    if (!dh_witness_due(&o->witness, earlier, now))
        return dh_witness_emit(&o->witness, false, earlier, now);
    if (dh_syncp_pair(&o->syncp, earlier, now))
        return dh_witness_report(&o->witness, o->syncp.cut, earlier, now);
    if (dh_osr_pair(&o->order, o->ahead, earlier, now) == DH_OSR_RACE)
        return dh_osr_report(&o->order, &o->witness, o->ahead, earlier, now);
    return o->p.d->failed ? -ENOMEM : 0;
}

/* Those of syncp and the others, in the order of the trace. */
static int report_all(struct osr *o)
{
    const struct dh_syncp_found *found = o->syncp.found;
    const struct dh_syncp_race *more = o->syncp.races, *end = more + o->syncp.n_races;
    int rc = 0;
    for (u32 i = 0; !rc && (i < found->n_races || more < end);) {
        bool first = more == end || (i < found->n_races && found->races[i].now < more->now);
        const struct dh_syncp_race *race = first ? &found->races[i++] : more++;
        rc = report(o, race->earlier, race->now);
    }
    return rc;
}

static int run(struct dh_detector *d, const struct dh_trace *trace)
{
    struct osr *o = d->own;
    int rc = dh_predict_init(&o->p, d, trace);
    if (!rc)
        rc = dh_syncp_init(&o->syncp, &o->p);
    if (!rc)
        rc = dh_osr_order_init(&o->order, &o->p);
    o->witness.p = o->states.p = &o->p;
    o->ahead = dh_detect_alloc(d, ((size_t)trace->threads + 1) * sizeof(*o->ahead));
    if (!rc && d->failed)
        rc = -ENOMEM;
    if (!rc)
        rc = dh_syncp_search(&o->syncp);
    for (u32 k = trace->locks; !rc && k < o->p.objects; k++)
        rc = !dh_syncp_family(&o->syncp, k) ? -ENOMEM : dh_syncp_any_open(&o->syncp) ? look(o) : 0;
    /* What was found once must be found again, however many steps were spent meanwhile. */
    o->order.reach.limit = o->order.search.limit = UINT64_MAX;
    if (!rc && !dh_syncp_sort(&o->syncp))
        rc = -ENOMEM;
    return rc ? rc : report_all(o);
}

const struct dh_detector_ops dh_detector_osr = {
    .name = "osr",
    .paper =
        "Shi, Mathur, Pavlogiannis: Optimistic Prediction of Synchronization-Reversal Data Races (ICSE 2024)",
    .guarantee = DH_PREDICTIVE_SOUND,
    .summary = "syncp, and races that need critical sections in another order; with checked witnesses",
    .own_size = sizeof(struct osr),
    .whole_trace = run,
};
