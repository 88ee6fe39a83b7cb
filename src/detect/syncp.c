/*
 * syncp.c - sync-preserving races: those that show in a reordering which keeps the order of the critical
 * sections of each lock.
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
 *
 * Departures: one pair is reported per later access. Which sections must be closed is read off the locks held
 * at the cut instead of a queue per lock, thread and variable: only those can be open. A variable all of
 * whose accesses share a lock is skipped. Synchronisation other than mutexes, fork and join: see
 * detect/predict.h. Needs the whole trace: about 50 bytes an event, and 4 bytes times the number of threads
 * for each read that tells a thread something new.
 */
#include "detect/syncp.h"

#include <errno.h>

#include "detect/witness.h"

bool dh_syncp_close(const struct dh_predict *p, u32 *cut, u32 e)
{
    u32 te = p->trace->events[e].thread;
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 t = 0; t < p->threads; t++) {
            for (u32 h = dh_predict_holding_at(p, t, cut[t]); h; h = p->holdings[h].outer) {
                const struct dh_section *s = &p->sections[p->holdings[h].section];
                if (!dh_predict_followed(p, p->holdings[h].section, cut))
                    continue;
                if (s->rel == DH_NONE)
                    return false; /* only in a trace that is not well-formed */
                dh_predict_absorb(p, cut, s->rel, true);
                if (cut[te] > p->local[e])
                    return false;
                changed = true;
                break; /* the list is of the old cut */
            }
        }
    }
    return cut[te] <= p->local[e];
}

int dh_syncp_init(struct dh_syncp *s, const struct dh_predict *p)
{
    *s = (struct dh_syncp){.p = p};
    s->objects = dh_detect_alloc(p->d, ((size_t)p->objects + 1) * sizeof(*s->objects));
    s->later = dh_detect_alloc(p->d, ((size_t)p->n + 1) * sizeof(*s->later));
    bool ok = dh_mem_grow(&p->d->mem, (void **)&s->classes, 0, &s->cap_classes, sizeof(*s->classes));
    return !ok || p->d->failed ? -ENOMEM : 0;
}

static bool holds(const struct dh_predict *p, u32 e, u32 lock)
{
    return dh_predict_find_lock(p, dh_predict_holding(p, e), lock) != NULL;
}

bool dh_syncp_guarded(const struct dh_syncp *s, u32 object, u32 e)
{
    const struct dh_syncp_object *o = &s->objects[object];
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
static u64 kind_of(const struct dh_predict *p, u32 e)
{
    const struct dh_event *event = &p->trace->events[e];
    return (u64)p->object[e] << 32 | event->thread << 2 | (u32)(event->op == DH_OP_WRITE) << 1 |
           (event->mode & DH_ATOMIC ? 1 : 0);
}

static u32 entry_of(const struct dh_syncp *s, const u32 *index, u32 cap, u64 kind)
{
    u32 at = (u32)dh_hash64(kind) & (cap - 1);
    while (index[at] && kind_of(s->p, s->classes[index[at] - 1].first) != kind)
        at = (at + 1) & (cap - 1);
    return at;
}

static bool grow_index(struct dh_syncp *s)
{
    u32 cap = s->cap_index ? s->cap_index * 2 : 256;
    u32 *index = dh_detect_alloc(s->p->d, (size_t)cap * sizeof(*index));
    if (!index)
        return false;
    for (u32 c = 1; c <= s->n_classes; c++)
        index[entry_of(s, index, cap, kind_of(s->p, s->classes[c - 1].first))] = c;
    dh_detect_free(s->p->d, s->index, (size_t)s->cap_index * sizeof(*index));
    s->index = index;
    s->cap_index = cap;
    return true;
}

u32 dh_syncp_add(struct dh_syncp *s, u32 e)
{
    const struct dh_predict *p = s->p;
    struct dh_syncp_object *o = &s->objects[p->object[e]];
    narrow_common(s, o, e);
    s->later[e] = DH_NONE;
    if (s->n_classes * 2 >= s->cap_index && !grow_index(s))
        return 0;
    u32 *entry = &s->index[entry_of(s, s->index, s->cap_index, kind_of(p, e))];
    if (*entry) {
        struct dh_syncp_class *class = &s->classes[*entry - 1];
        s->later[class->last] = e;
        class->last = e;
        return *entry;
    }
    if (s->n_classes == s->cap_classes &&
        !dh_mem_grow(&p->d->mem, (void **)&s->classes, s->n_classes, &s->cap_classes, sizeof(*s->classes)))
        return 0;
    u32 *head = p->trace->events[e].op == DH_OP_WRITE ? &o->writes : &o->reads;
    s->classes[s->n_classes++] = (struct dh_syncp_class){.first = e, .last = e, .next = *head};
    return *head = *entry = s->n_classes;
}

static u32 slot_of(const struct dh_syncp_state *states, u32 cap, u32 class, u32 thread)
{
    u32 at = (u32)dh_hash64((u64) class << 32 | thread) & (cap - 1);
    while (states[at].class && (states[at].class != class || states[at].thread != thread))
        at = (at + 1) & (cap - 1);
    return at;
}

static bool grow_states(struct dh_syncp *s)
{
    u32 cap = s->cap_states ? s->cap_states * 2 : 256;
    struct dh_syncp_state *states = dh_detect_alloc(s->p->d, (size_t)cap * sizeof(*states));
    if (!states)
        return false;
    for (u32 i = 0; i < s->cap_states; i++) {
        if (s->states[i].class)
            states[slot_of(states, cap, s->states[i].class, s->states[i].thread)] = s->states[i];
    }
    dh_detect_free(s->p->d, s->states, (size_t)s->cap_states * sizeof(*states));
    s->states = states;
    s->cap_states = cap;
    return true;
}

static struct dh_syncp_state *state_of(struct dh_syncp *s, u32 class, u32 thread)
{
    if (s->n_states * 2 >= s->cap_states && !grow_states(s))
        return NULL;
    struct dh_syncp_state *state = &s->states[slot_of(s->states, s->cap_states, class, thread)];
    if (!state->class) {
        u32 *cut = dh_detect_alloc(s->p->d, s->p->threads * sizeof(*cut));
        if (!cut)
            return NULL;
        *state = (struct dh_syncp_state){.class = class, .thread = thread, .failed = DH_NONE, .cut = cut};
        s->n_states++;
    }
    return state;
}

/* The first access of the class that races with e. */
static u32 find_in_class(struct dh_syncp *s, u32 c, u32 e, const u32 **ret_cut)
{
    const struct dh_predict *p = s->p;
    const struct dh_syncp_class *class = &s->classes[c - 1];
    u32 t = p->trace->events[e].thread, u = p->trace->events[class->first].thread;
    struct dh_syncp_state *state = state_of(s, c, t);
    if (!state)
        return DH_NONE;
    dh_predict_absorb(p, state->cut, e, false);
    for (;;) {
        u32 earlier = state->failed == DH_NONE ? class->first : s->later[state->failed];
        if (earlier == DH_NONE)
            return DH_NONE;
        if (p->local[earlier] >= state->cut[u]) {
            dh_predict_absorb(p, state->cut, earlier, false);
            if (dh_syncp_close(p, state->cut, earlier)) {
                *ret_cut = state->cut;
                return earlier;
            }
        }
        state->failed = earlier;
    }
}

static u32 find_in_classes(struct dh_syncp *s, u32 c, u32 e, const u32 **ret_cut)
{
    const struct dh_predict *p = s->p;
    u32 t = p->trace->events[e].thread;
    bool atomic = p->trace->events[e].mode & DH_ATOMIC;
    const u32 *needs = dh_predict_version(p, dh_predict_need(p, e));
    for (; c; c = s->classes[c - 1].next) {
        const struct dh_syncp_class *class = &s->classes[c - 1];
        const struct dh_event *first = &p->trace->events[class->first];
        if (first->thread == t || (first->mode & DH_ATOMIC && atomic) || p->local[class->last] < needs[first->thread])
            continue;
        u32 earlier = find_in_class(s, c, e, ret_cut);
        if (earlier != DH_NONE)
            return earlier;
    }
    return DH_NONE;
}

u32 dh_syncp_find(struct dh_syncp *s, u32 e, const u32 **ret_cut)
{
    bool write = s->p->trace->events[e].op == DH_OP_WRITE;
    u32 earlier = DH_NONE;
    for (u32 o = s->p->object[e]; o != DH_NONE && earlier == DH_NONE; o = s->p->parent[o]) {
        if (dh_syncp_guarded(s, o, e))
            continue;
        earlier = find_in_classes(s, s->objects[o].writes, e, ret_cut);
        if (earlier == DH_NONE && write)
            earlier = find_in_classes(s, s->objects[o].reads, e, ret_cut);
    }
    return earlier;
}

static int run(struct dh_detector *d, const struct dh_trace *trace)
{
    struct dh_predict p;
    struct dh_syncp s;
    int rc = dh_predict_init(&p, d, trace);
    if (!rc)
        rc = dh_syncp_init(&s, &p);
    struct dh_witness w = {.p = &p};
    for (u32 e = 0; !rc && e < p.n; e++) {
        if (!dh_event_is_access(&trace->events[e]))
            continue;
        const u32 *cut;
        bool wanted = dh_detect_wants(d, trace->events[e].target);
        u32 earlier = wanted ? dh_syncp_find(&s, e, &cut) : DH_NONE;
        if (earlier != DH_NONE)
            rc = dh_witness_report(&w, cut, earlier, e);
        if (!dh_syncp_add(&s, e) || d->failed)
            rc = -ENOMEM;
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
