/*
 * osr.c - optimistic sync-reversal races: reorderings that may also reverse critical sections, where that is
 * needed.
 *
 * Paper: Shi, Mathur, Pavlogiannis, "Optimistic Prediction of Synchronization-Reversal Data Races", ICSE
 * 2024.
 *
 * Guarantee: predictive-sound, and a superset of syncp. Every report has a witness that was checked
 * (detect/witness.h says up to which number).
 *
 * How: as in syncp a smallest cut is closed, but a lock held by one of the two accesses stays open, and
 * whatever other section of that lock is in the cut must end in it, also one that came later in the trace.
 * That section has then to be executed before the held one: a reversal. Conflicting accesses keep the order
 * of the trace, and so do all sections that are not held. osr_order.c decides whether such an order exists.
 * Where none does, any other order is tried too (osr_search.c): a section nested in a reversed one may have to
 * be reversed itself.
 *
 * Departures: written from the idea of optimistic closure and reversal as above, which may differ in detail
 * from the published algorithm. Whether reversals contradict each other is found by following what comes after
 * each reversed acquisition (osr_reach.c), which is mostly next to nothing; the paper's bound is quadratic, and
 * so is the worst case here, so the steps of all these searches together are limited (DH_OSR_STEPS per event).
 * The search through other orders is not the paper's; it is exponential and has a limit of its own
 * (DH_OSR_SEARCH_STEPS). Questions that it leaves open are counted: races are lost, none is invented. One pair
 * is reported per later access. Per class of earlier accesses (thread, kind, locks held) at most LOOK_AHEAD
 * candidates are tried after one whose order fails only for the present, and as many in other orders. Needs the
 * whole trace, as syncp does.
 */
#include "detect/osr.h"

#include <errno.h>
#include <string.h>

#include "detect/syncp.h"

enum { LOOK_AHEAD = 64 };

/* The accesses of one class of syncp that held the same locks. */
struct kind {
    u32 set;
    u32 first, last;
    u32 next; /* + 1: of the same class, used less recently; 0: none */
};

struct state {
    u64 key; /* kind of the earlier accesses, kind of the later ones, each + 1; 0: the slot is free */
    u32 failed;
    u32 known; /* the first of the earlier accesses that a later one does not need; DH_NONE: not looked for */
    u32 *cut;
};

struct osr {
    struct dh_predict p;
    struct dh_syncp syncp;
    struct dh_osr_order order;
    struct dh_witness witness;
    u32 *heads; /* kinds of each class, + 1 */
    u32 cap_heads;
    struct kind *kinds;
    u32 n_kinds, cap_kinds;
    u32 *later; /* the next access of the kind of this access */
    struct state *states;
    u32 n_states, cap_states;
    u32 *ahead; /* a cut to try with */
    bool open;  /* a question about the access in hand was left open */
};

/* Room for the kinds of this class. */
static bool head_for(struct osr *o, u32 class)
{
    while (class > o->cap_heads) {
        u32 n = o->cap_heads;
        if (!dh_mem_grow(&o->p.d->mem, (void **)&o->heads, n, &o->cap_heads, sizeof(*o->heads)))
            return false;
    }
    return true;
}

/* Takes the access in; its kind, + 1. 0: no memory. */
static u32 add(struct osr *o, u32 class, u32 e)
{
    const struct dh_predict *p = &o->p;
    u32 set = p->holdings[dh_predict_holding(p, e)].set;
    if (!head_for(o, class))
        return 0;
    u32 *head = &o->heads[class - 1];
    o->later[e] = DH_NONE;
    for (u32 *link = head; *link; link = &o->kinds[*link - 1].next) {
        u32 k = *link;
        struct kind *kind = &o->kinds[k - 1];
        if (kind->set != set)
            continue;
        o->later[kind->last] = e;
        kind->last = e;
        *link = kind->next;
        kind->next = *head;
        return *head = k;
    }
    if (o->n_kinds == o->cap_kinds &&
        !dh_mem_grow(&p->d->mem, (void **)&o->kinds, o->n_kinds, &o->cap_kinds, sizeof(*o->kinds)))
        return 0;
    o->kinds[o->n_kinds++] = (struct kind){.set = set, .first = e, .last = e, .next = *head};
    return *head = o->n_kinds;
}

static u32 slot_of(const struct state *states, u32 cap, u64 key)
{
    u32 at = (u32)dh_hash64(key) & (cap - 1);
    while (states[at].key && states[at].key != key)
        at = (at + 1) & (cap - 1);
    return at;
}

static bool grow_states(struct osr *o)
{
    u32 cap = o->cap_states ? o->cap_states * 2 : 256;
    struct state *states = dh_detect_alloc(o->p.d, (size_t)cap * sizeof(*states));
    if (!states)
        return false;
    for (u32 i = 0; i < o->cap_states; i++) {
        if (o->states[i].key)
            states[slot_of(states, cap, o->states[i].key)] = o->states[i];
    }
    dh_detect_free(o->p.d, o->states, (size_t)o->cap_states * sizeof(*states));
    o->states = states;
    o->cap_states = cap;
    return true;
}

static struct state *state_of(struct osr *o, u64 key)
{
    if (o->n_states * 2 >= o->cap_states && !grow_states(o))
        return NULL;
    struct state *state = &o->states[slot_of(o->states, o->cap_states, key)];
    if (!state->key) {
        u32 *cut = dh_detect_alloc(o->p.d, o->p.threads * sizeof(*cut));
        if (!cut)
            return NULL;
        *state = (struct state){.key = key, .failed = DH_NONE, .known = DH_NONE, .cut = cut};
        o->n_states++;
    }
    return state;
}

/* Candidates after one that is not out for good but could not be ordered with e. */
static u32 look_ahead(struct osr *o, const struct state *state, u32 from, u32 e)
{
    const struct dh_predict *p = &o->p;
    u32 tries = 0;
    memcpy(o->ahead, state->cut, p->threads * sizeof(*o->ahead));
    for (u32 i = o->later[from]; i != DH_NONE && tries < LOOK_AHEAD; i = o->later[i], tries++) {
        if (p->local[i] < o->ahead[p->trace->events[i].thread])
            continue;
        dh_predict_absorb(p, o->ahead, i, false);
        enum dh_osr_closed closed = dh_osr_close(p, o->ahead, i, e);
        if (closed == DH_OSR_NO)
            return DH_NONE;
        if (closed == DH_OSR_CLOSED && dh_osr_order_find(&o->order, o->ahead, i, e) == DH_OSR_FOUND)
            return i;
    }
    return DH_NONE;
}

/* An access of kind k that races with e, which is of kind k2. */
static u32 find_in_kind(struct osr *o, u32 k, u32 k2, u32 e, const u32 **ret_cut)
{
    const struct dh_predict *p = &o->p;
    struct state *state = state_of(o, (u64)k << 32 | k2);
    if (!state)
        return DH_NONE;
    dh_predict_absorb(p, state->cut, e, false);
    for (;;) {
        u32 i = state->failed == DH_NONE ? o->kinds[k - 1].first : o->later[state->failed];
        if (i == DH_NONE)
            return DH_NONE;
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
        if (found == DH_OSR_FOUND) {
            *ret_cut = state->cut;
            return i;
        }
        if (found == DH_OSR_NOT_NOW) {
            *ret_cut = o->ahead;
            return look_ahead(o, state, i, e);
        }
        state->failed = i;
    }
}

/* Likewise, in any order. */
static u32 search_kind(struct osr *o, u32 k, u32 k2, u32 e)
{
    const struct dh_predict *p = &o->p;
    struct state *state = state_of(o, (u64)k << 32 | k2);
    if (!state)
        return DH_NONE;
    u32 i = state->known == DH_NONE ? o->kinds[k - 1].first : state->known, tries = 0;
    u32 needed = dh_predict_needs(p, e, p->trace->events[i].thread);
    while (o->later[i] != DH_NONE && p->local[i] < needed)
        i = o->later[i];
    state->known = i;
    for (; i != DH_NONE && tries < LOOK_AHEAD; i = o->later[i], tries++) {
        if (p->local[i] < needed)
            continue;
        enum dh_osr_answer answer = dh_osr_search(&o->order.search, i, e);
        if (answer == DH_OSR_RACE)
            return i;
        o->open |= answer == DH_OSR_OPEN;
    }
    return DH_NONE;
}

/* ret_cut: what the quick way finds; NULL: by the search. */
static u32 find_in_classes(struct osr *o, u32 c, u32 k2, u32 e, const u32 **ret_cut)
{
    const struct dh_predict *p = &o->p;
    u32 t = p->trace->events[e].thread;
    const u32 *needs = dh_predict_version(p, dh_predict_need(p, e));
    for (; c; c = o->syncp.classes[c - 1].next) {
        const struct dh_syncp_class *class = &o->syncp.classes[c - 1];
        const struct dh_event *first = &p->trace->events[class->first];
        u32 u = first->thread;
        if (u == t || (first->mode & p->trace->events[e].mode & DH_ATOMIC))
            continue;
        /* Most recently used first: after the first that is known to e all are. */
        for (u32 k = o->heads[c - 1]; k; k = o->kinds[k - 1].next) {
            u32 last = o->kinds[k - 1].last;
            if (p->local[last] < needs[u])
                break;
            if (dh_predict_share_lock(p, dh_predict_holding(p, last), dh_predict_holding(p, e)))
                continue;
            u32 i = ret_cut ? find_in_kind(o, k, k2, e, ret_cut) : search_kind(o, k, k2, e);
            if (i != DH_NONE)
                return i;
        }
    }
    return DH_NONE;
}

static u32 find(struct osr *o, u32 k2, u32 e, const u32 **ret_cut)
{
    bool write = o->p.trace->events[e].op == DH_OP_WRITE;
    u32 i = DH_NONE;
    for (u32 k = o->p.object[e]; k != DH_NONE && i == DH_NONE; k = o->p.parent[k]) {
        const struct dh_syncp_object *x = &o->syncp.objects[k];
        if (dh_syncp_guarded(&o->syncp, k, e))
            continue;
        i = find_in_classes(o, x->writes, k2, e, ret_cut);
        if (i == DH_NONE && write)
            i = find_in_classes(o, x->reads, k2, e, ret_cut);
    }
    return i;
}

static int handle(struct osr *o, u32 e)
{
    const u32 *cut;
    bool wanted = dh_detect_wants(o->p.d, o->p.trace->events[e].target);
    u32 i = wanted ? dh_syncp_find(&o->syncp, e, &cut) : DH_NONE;
    if (i != DH_NONE) {
        int rc = dh_witness_report(&o->witness, cut, i, e);
        if (rc)
            return rc;
    }
    u32 class = dh_syncp_add(&o->syncp, e);
    u32 kind = class ? add(o, class, e) : 0;
    if (!kind)
        return -ENOMEM;
    if (i != DH_NONE || !wanted)
        return o->p.d->failed ? -ENOMEM : 0;
    i = find(o, kind, e, &cut);
    if (i == DH_NONE) {
        o->open = false;
        i = find(o, kind, e, NULL);
        o->order.searched = true;
        o->p.d->given_up += i == DH_NONE && o->open;
    }
    if (i != DH_NONE)
        return dh_osr_report(&o->order, &o->witness, cut, i, e);
    return o->p.d->failed ? -ENOMEM : 0;
}

static int run(struct dh_detector *d, const struct dh_trace *trace)
{
    struct osr *o = d->own;
    int rc = dh_predict_init(&o->p, d, trace);
    if (!rc)
        rc = dh_syncp_init(&o->syncp, &o->p);
    if (!rc)
        rc = dh_osr_order_init(&o->order, &o->p);
    o->witness.p = &o->p;
    o->later = dh_detect_alloc(d, (trace->n + 1) * sizeof(*o->later));
    o->ahead = dh_detect_alloc(d, ((size_t)trace->threads + 1) * sizeof(*o->ahead));
    if (!rc && d->failed)
        rc = -ENOMEM;
    for (u32 e = 0; !rc && e < o->p.n; e++) {
        if (dh_event_is_access(&trace->events[e]))
            rc = handle(o, e);
    }
    return rc;
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
