/*
 * syncp.c - sync-preserving races: those shown by a reordering that keeps the order of the critical sections
 * of each lock.
 *
 * Paper: Mathur, Pavlogiannis, Viswanathan, "Optimal Prediction of Synchronization-Preserving Races", POPL
 * 2021.
 *
 * Guarantee: predictive-sound, and complete for its class: an access is reported if and only if some
 * correct reordering that keeps the order of the acquisitions of each lock has it next to an earlier
 * conflicting one. Every report has a witness that was checked (detect/witness.h says up to which number).
 *
 * How: the smallest set that contains what both accesses need and is closed under two rules (what an event
 * needs is in it; of two sections of a lock that begin in it, the earlier one ends in it) is what any such
 * reordering executes. If the earlier access is not in it, it is itself the witness, in the order of the
 * trace. The set grows with both accesses, so one cut is kept per thread and class of earlier accesses and
 * only ever extended: an earlier access that failed once is out for all later accesses of that thread.
 * syncp_search.c explains in which order this is done.
 *
 * Departures: variables are processed one by one (syncp.h), and the cut of a race is computed again when it
 * is reported with a witness. One pair is reported per later access. Which sections must be closed is read
 * off the locks held at the cut instead of a queue per lock, thread and variable: only those can be open. A
 * variable all of whose accesses share a lock is skipped. Synchronisation other than mutexes, fork and join:
 * see detect/predict.h. Needs the whole trace: about 40 bytes per event, and 4 bytes times the number of
 * threads for each read by which a thread acquires something new.
 */
#include "detect/syncp.h"

#include <errno.h>
#include <string.h>

#include "detect/predict_links.h"
#include "detect/witness.h"

int dh_syncp_init(struct dh_syncp *s, const struct dh_predict *p)
{
    *s = (struct dh_syncp){.p = p, .states = {.p = p}};
    s->cut = dh_detect_alloc(p->d, ((size_t)p->threads + 1) * sizeof(*s->cut));
    if (p->copied)
        s->member = dh_detect_alloc(p->d, ((size_t)p->objects + 1) * sizeof(*s->member));
    s->closed = dh_detect_alloc(p->d, ((size_t)p->threads + 1) * sizeof(*s->closed));
    return p->d->failed || !dh_links_make(p) ? -ENOMEM : 0;
}

/* ---- The family ---- */

struct dh_syncp_object *dh_syncp_object(const struct dh_syncp *s, u32 object)
{
    return &s->objects[s->member ? s->member[object] : 0];
}

/* Room for n numbers, of which the first `used` count. */
static bool room(struct dh_syncp *s, u32 **items, u32 *cap, u32 n, u32 used)
{
    while (*cap < n) {
        if (!dh_mem_grow(&s->p->d->mem, (void **)items, used, cap, sizeof(**items)))
            return false;
    }
    return true;
}

/* Merges a list of events into the accesses. What is done to a copy mostly comes after all that was done
 * before. */
static bool merge(struct dh_syncp *s, const struct dh_link_list *list, u32 object)
{
    const u32 *more = list->events + list->first[object];
    u32 n_more = list->first[object + 1] - list->first[object], i = 0, k = 0, n = s->n + n_more;
    if (n_more == 0)
        return true;
    if (s->n == 0 || s->accesses[s->n - 1] < more[0]) {
        if (!room(s, &s->accesses, &s->cap_accesses, n, s->n))
            return false;
        memcpy(s->accesses + s->n, more, n_more * sizeof(*more));
        s->n = n;
        return true;
    }
    if (!room(s, &s->merged, &s->cap_merged, n, 0))
        return false;
    for (u32 at = 0; at < n; at++) {
        bool old = k == n_more || (i < s->n && s->accesses[i] < more[k]);
        s->merged[at] = old ? s->accesses[i++] : more[k++];
    }
    u32 *events = s->accesses, cap = s->cap_accesses;
    s->accesses = s->merged;
    s->cap_accesses = s->cap_merged;
    s->merged = events;
    s->cap_merged = cap;
    s->n = n;
    return true;
}

static bool add_object(struct dh_syncp *s, u32 object)
{
    const struct dh_predict *p = s->p;
    if (s->n_objects == s->cap_objects &&
        !dh_mem_grow(&p->d->mem, (void **)&s->objects, s->n_objects, &s->cap_objects, sizeof(*s->objects)))
        return false;
    if (s->member)
        s->member[object] = s->n_objects;
    s->objects[s->n_objects++] = (struct dh_syncp_object){0};
    return merge(s, &p->links->writes, object) && merge(s, &p->links->reads, object);
}

/* The object and all that are copies of it. */
static bool add_objects(struct dh_syncp *s, u32 root)
{
    const struct dh_predict *p = s->p;
    for (u32 o = root;;) {
        if (!add_object(s, o))
            return false;
        if (p->child[o] != DH_NONE) {
            o = p->child[o];
            continue;
        }
        while (o != root && p->sibling[o] == DH_NONE)
            o = p->parent[o];
        if (o == root)
            return true;
        o = p->sibling[o];
    }
}

bool dh_syncp_shared(const struct dh_syncp *s)
{
    const struct dh_event *events = s->p->trace->events;
    enum { AHEAD = 16 };
    for (u32 i = 1; i < s->n; i++) {
        if (i + AHEAD < s->n)
            __builtin_prefetch(&events[s->accesses[i + AHEAD]]);
        if (events[s->accesses[i]].thread != events[s->accesses[0]].thread)
            return true;
    }
    return false;
}

bool dh_syncp_family(struct dh_syncp *s, u32 object)
{
    for (u32 c = 0; c < s->n_classes; c++)
        s->index[s->classes[c].slot] = 0;
    s->n = s->n_objects = s->n_classes = 0;
    dh_states_clear(&s->states);
    if (s->p->parent[object] != DH_NONE)
        return true;
    s->root = object;
    return add_objects(s, object) && room(s, &s->later, &s->cap_later, s->n, 0);
}

/* ---- Classes ---- */

static bool holds(const struct dh_predict *p, u32 e, u32 lock)
{
    return dh_predict_find_lock(p, dh_predict_holding(p, e), lock) != NULL;
}

bool dh_syncp_guarded(const struct dh_syncp *s, u32 object, u32 e)
{
    const struct dh_syncp_object *o = dh_syncp_object(s, object);
    for (u32 i = 0; i < o->n_common; i++) {
        if (holds(s->p, e, o->common[i]))
            return true;
    }
    return false;
}

static void narrow_common(struct dh_syncp *s, struct dh_syncp_object *o, u32 e)
{
    const struct dh_predict *p = s->p;
    u32 n = 0;
    if (!o->seen) {
        o->seen = true;
        for (u32 h = dh_predict_holding(p, e); h && n < DH_SYNCP_COMMON; h = p->holdings[h].outer)
            o->common[n++] = p->sections[p->holdings[h].section].lock;
    } else {
        for (u32 i = 0; i < o->n_common; i++) {
            if (holds(p, e, o->common[i]))
                o->common[n++] = o->common[i];
        }
    }
    o->n_common = (u8)n;
}

/* What decides about the class of an access. */
static u64 kind_of(const struct dh_syncp *s, u32 at)
{
    u32 e = s->accesses[at];
    const struct dh_event *event = &s->p->trace->events[e];
    return (u64)dh_syncp_object_of(s, e) << 32 | event->thread << 2 | (u32)(event->op == DH_OP_WRITE) << 1 |
           (event->mode & DH_ATOMIC ? 1 : 0);
}

static u32 slot_of(const struct dh_syncp *s, u64 kind)
{
    u32 at = (u32)dh_hash64(kind) & (s->cap_index - 1);
    while (s->index[at] && kind_of(s, s->classes[s->index[at] - 1].first) != kind)
        at = (at + 1) & (s->cap_index - 1);
    return at;
}

static bool grow_index(struct dh_syncp *s)
{
    u32 cap = s->cap_index ? s->cap_index * 2 : 64;
    u32 *index = dh_detect_alloc(s->p->d, (size_t)cap * sizeof(*index));
    if (!index)
        return false;
    dh_detect_free(s->p->d, s->index, (size_t)s->cap_index * sizeof(*index));
    s->index = index;
    s->cap_index = cap;
    for (u32 c = 0; c < s->n_classes; c++) {
        s->classes[c].slot = slot_of(s, kind_of(s, s->classes[c].first));
        s->index[s->classes[c].slot] = c + 1;
    }
    return true;
}

u32 dh_syncp_add(struct dh_syncp *s, u32 at)
{
    const struct dh_predict *p = s->p;
    u32 e = s->accesses[at];
    struct dh_syncp_object *o = dh_syncp_object(s, dh_syncp_object_of(s, e));
    narrow_common(s, o, e);
    s->later[at] = DH_NONE;
    if (s->n_classes * 2 >= s->cap_index && !grow_index(s))
        return 0;
    u32 slot = slot_of(s, kind_of(s, at));
    if (s->index[slot]) {
        struct dh_syncp_class *class = &s->classes[s->index[slot] - 1];
        s->later[class->last] = at;
        class->last = at;
        class->local = p->local[e];
        return s->index[slot];
    }
    if (s->n_classes == s->cap_classes &&
        !dh_mem_grow(&p->d->mem, (void **)&s->classes, s->n_classes, &s->cap_classes, sizeof(*s->classes)))
        return 0;
    u32 *head = p->trace->events[e].op == DH_OP_WRITE ? &o->writes : &o->reads;
    s->classes[s->n_classes++] = (struct dh_syncp_class){.first = at,
                                                         .last = at,
                                                         .next = *head,
                                                         .slot = slot,
                                                         .thread = p->trace->events[e].thread,
                                                         .local = p->local[e],
                                                         .atomic = p->trace->events[e].mode & DH_ATOMIC};
    return *head = s->index[slot] = s->n_classes;
}

/* ---- Races ---- */

/* The first access of the class that races with e. */
static u32 find_in_class(struct dh_syncp *s, u32 c, u32 e)
{
    const struct dh_predict *p = s->p;
    const struct dh_syncp_class *class = &s->classes[c - 1];
    u32 t = p->trace->events[e].thread, u = class->thread;
    struct dh_state *state = dh_states_at(&s->states, (u64)c << 32 | t);
    if (!state)
        return DH_NONE;
    dh_predict_absorb(p, state->cut, e, false);
    for (;;) {
        u32 at = state->failed == DH_NONE ? class->first : s->later[state->failed];
        if (at == DH_NONE)
            return DH_NONE;
        u32 earlier = s->accesses[at];
        if (p->local[earlier] >= state->cut[u]) {
            dh_predict_absorb(p, state->cut, earlier, false);
            if (dh_syncp_close(p, state->cut, earlier))
                return at;
        }
        state->failed = at;
    }
}

/* The first access of the class, unless its answer depends on what was asked before. */
static u32 guess_in_class(struct dh_syncp *s, u32 c, u32 e)
{
    const struct dh_predict *p = s->p;
    const struct dh_syncp_class *class = &s->classes[c - 1];
    u32 known = s->states.n;
    if (!dh_states_at(&s->states, (u64)c << 32 | p->trace->events[e].thread))
        return DH_NONE;
    bool first = s->states.n > known;
    return first && p->local[s->accesses[class->first]] >= dh_predict_needs(p, e, class->thread)
               ? class->first
               : DH_SYNCP_ASK;
}

typedef u32 in_class_fn(struct dh_syncp *s, u32 c, u32 e);

static u32 find_in_classes(struct dh_syncp *s, u32 c, u32 e, in_class_fn *in_class)
{
    const struct dh_predict *p = s->p;
    u32 t = p->trace->events[e].thread;
    bool atomic = p->trace->events[e].mode & DH_ATOMIC;
    u32 need = dh_predict_need(p, e);
    for (; c; c = s->classes[c - 1].next) {
        const struct dh_syncp_class *class = &s->classes[c - 1];
        if (class->thread == t || (class->atomic && atomic) ||
            dh_versions_has(&p->versions, need, class->thread, class->local))
            continue;
        u32 earlier = in_class(s, c, e);
        if (earlier != DH_NONE)
            return earlier;
    }
    return DH_NONE;
}

static u32 find(struct dh_syncp *s, u32 at, in_class_fn *in_class)
{
    u32 e = s->accesses[at], earlier = DH_NONE;
    bool write = s->p->trace->events[e].op == DH_OP_WRITE;
    for (u32 o = dh_syncp_object_of(s, e); o != DH_NONE && earlier == DH_NONE; o = s->p->parent[o]) {
        const struct dh_syncp_object *x = dh_syncp_object(s, o);
        if (dh_syncp_guarded(s, o, e))
            continue;
        earlier = find_in_classes(s, x->writes, e, in_class);
        if (earlier == DH_NONE && write)
            earlier = find_in_classes(s, x->reads, e, in_class);
    }
    return earlier;
}

u32 dh_syncp_find(struct dh_syncp *s, u32 at)
{
    return find(s, at, find_in_class);
}

u32 dh_syncp_guess(struct dh_syncp *s, u32 at)
{
    return find(s, at, guess_in_class);
}

static int run(struct dh_detector *d, const struct dh_trace *trace)
{
    struct dh_predict p;
    struct dh_syncp s;
    int rc = dh_predict_init(&p, d, trace);
    if (!rc)
        rc = dh_syncp_init(&s, &p);
    struct dh_witness w = {.p = &p};
    if (!rc)
        rc = dh_syncp_search(&s);
    for (u32 i = 0; !rc && i < s.found->n_races; i++) {
        u32 earlier = s.found->races[i].earlier, now = s.found->races[i].now;
        if (!dh_witness_due(&w, earlier, now))
            rc = dh_witness_emit(&w, false, earlier, now);
        else if (dh_syncp_pair(&s, earlier, now))
            rc = dh_witness_report(&w, s.cut, earlier, now);
    }
    return rc;
}

const struct dh_detector_ops dh_detector_syncp = {
    .name = "syncp",
    .paper =
        "Mathur, Pavlogiannis, Viswanathan: Optimal Prediction of Synchronization-Preserving Races (POPL "
        "2021)",
    .guarantee = DH_PREDICTIVE_SOUND,
    .summary =
        "races of reorderings that keep the order of critical sections: all of them, with checked witnesses",
    .whole_trace = run,
};
