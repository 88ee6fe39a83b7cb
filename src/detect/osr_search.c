/*
 * osr_search.c - searches for any reordering that shows a race, by trying what can come next.
 *
 * osr_order.c keeps all sections in trace order except those that the two accesses hold, and conflicting
 * accesses too. If that fails, another order may work: of sections nested in a reversed one, of writes that
 * are never read, or with another section left open. This search has no such restriction. It is used only if
 * the quick method has failed, and its cost is bounded.
 *
 * Which events must be executed: the smallest cut that has what both accesses need and leaves at most one
 * section of each lock open, held by them or decided to stay. Each decision is tried both ways. A reordering
 * of any larger cut, without the events that are not in the smallest one for the sections that it leaves
 * open, is one of that cut, so no other cut has to be tried.
 *
 * In which order: depth first. An event that cannot block others is executed as soon as possible: one that
 * only reads, or ends something, or is the last of its kind. The remaining choices are among writes and
 * acquisitions, tried in trace order; a write waits until all readers of the previous one have read it, and a
 * section that stays open waits until all others of its lock have ended. A state met before is not entered
 * again.
 *
 * What comes before the first section that has to be reversed is done in the order of the trace. If that
 * fails, traces of up to DH_OSR_SEARCH_WHOLE events are searched from their beginning. Only if that fails
 * too, and no bound was reached, is the answer no.
 */
#include "detect/osr_search.h"

#include <string.h>

#include "detect/predict_links.h"
#include "detect/witness.h"

static bool room(struct dh_osr_search *s, void **items, u32 n, u32 *cap, u32 size)
{
    if (n < *cap)
        return true;
    if (dh_mem_grow(&s->p->d->mem, items, n, cap, size))
        return true;
    s->p->d->failed = true;
    return false;
}

static const struct dh_event *event_of(const struct dh_osr_search *s, u32 at)
{
    return &s->p->trace->events[s->events[at].event];
}

/* ---- The window: the events of the cut from `start` on, and what they are about ---- */

static bool grow_places(struct dh_osr_search *s)
{
    u32 cap = s->cap_places ? s->cap_places * 2 : 64;
    struct dh_osr_place *places = dh_detect_alloc(s->p->d, (size_t)cap * sizeof(*places));
    if (!places)
        return false;
    dh_detect_free(s->p->d, s->places, (size_t)s->cap_places * sizeof(*places));
    s->places = places;
    s->cap_places = cap;
    return true;
}

/* Where an object is in the table, or would be. */
static u32 find_place(const struct dh_osr_search *s, u32 id)
{
    u32 at = (u32)dh_hash64(id) & (s->cap_places - 1);
    while (s->places[at].id != DH_NONE && s->places[at].id != id)
        at = (at + 1) & (s->cap_places - 1);
    return at;
}

/* The place of an object. The table has room. */
static u32 place_of(struct dh_osr_search *s, u32 id)
{
    u32 at = find_place(s, id);
    if (s->places[at].id == DH_NONE)
        s->places[at] = (struct dh_osr_place){.id = id, .current = DH_NONE};
    return at;
}

static bool is_mutex(const struct dh_predict *p, const struct dh_event *e)
{
    return (e->op == DH_OP_ACQUIRE || e->op == DH_OP_RELEASE) && !p->hard_lock[e->target];
}

/* The place in the window of an event of the trace; DH_NONE: it is not there. */
static u32 find_event(const struct dh_osr_search *s, u32 event)
{
    u32 low = 0, high = s->n;
    while (low < high) {
        u32 mid = low + (high - low) / 2;
        if (s->events[mid].event < event)
            low = mid + 1;
        else
            high = mid;
    }
    return low < s->n && s->events[low].event == event ? low : DH_NONE;
}

/* How many locks are held where the window begins. */
static u32 held(const struct dh_osr_search *s)
{
    u32 n = 0;
    for (u32 t = 0; t < s->p->threads; t++) {
        for (u32 h = dh_predict_holding_at(s->p, t, s->at[t]); h; h = s->p->holdings[h].outer)
            n++;
    }
    return n;
}

/* The events of the window, and at how many events of its own each thread is. */
static bool collect(struct dh_osr_search *s)
{
    const struct dh_predict *p = s->p;
    u32 last = dh_predict_last(p, s->cut);
    s->n = 0;
    memcpy(s->at, s->cut, p->threads * sizeof(u32));
    for (u32 i = s->start; last != DH_NONE && i <= last; i++) {
        if (++s->steps > s->stop)
            return false;
        if (!dh_predict_in_cut(p, s->cut, i))
            continue;
        u32 t = p->trace->events[i].thread;
        if (s->at[t] == s->cut[t])
            s->at[t] = p->local[i];
        if (!room(s, (void **)&s->events, s->n, &s->cap, sizeof(*s->events)))
            return false;
        s->events[s->n++] =
            (struct dh_osr_event){.event = i, .object = DH_NONE, .seen = DH_NONE, .death = DH_NONE};
    }
    while ((s->n + held(s)) * 2 >= s->cap_places) {
        if (!grow_places(s))
            return false;
    }
    for (u32 i = 0; i < s->cap_places; i++)
        s->places[i].id = DH_NONE;
    return true;
}

/* What event `at` sees or is seen by. */
static void link_event(struct dh_osr_search *s, u32 at)
{
    const struct dh_predict *p = s->p;
    struct dh_osr_event *x = &s->events[at];
    const struct dh_event *e = event_of(s, at);
    enum dh_effect effect = dh_predict_effect(p, e);
    if (is_mutex(p, e)) {
        x->object = place_of(s, e->target);
        s->places[x->object].writes += e->op == DH_OP_ACQUIRE;
        return;
    }
    if (effect == DH_EFFECT_NONE)
        return;
    u32 id = p->object[x->event];
    struct dh_osr_place *place = &s->places[x->object = place_of(s, id)];
    place->copied = p->parent[id] != DH_NONE || p->child[id] != DH_NONE;
    if (effect == DH_EFFECT_SIGNAL) { /* until all are linked, these count what was met */
        x->seen = place->waits;
        place->signals++;
    } else if (effect == DH_EFFECT_COLLECT) {
        x->seen = place->signals;
        place->waits++;
    } else {
        place->writes += dh_effect_changes(effect);
        place->reads += !dh_effect_changes(effect);
        if (dh_effect_sees(effect)) {
            u32 writer = dh_links_writer(p, id, x->event);
            x->seen = writer == DH_NONE ? DH_NONE : find_event(s, writer);
            ++*(x->seen == DH_NONE ? &place->unseen : &s->events[x->seen].sight);
        }
    }
    u32 death = dh_event_is_access(e) ? p->death[id] : DH_NONE;
    if (death != DH_NONE && (x->death = find_event(s, death)) != DH_NONE)
        s->events[x->death].users++;
}

static bool make_window(struct dh_osr_search *s)
{
    const struct dh_predict *p = s->p;
    if (!collect(s))
        return false;
    for (u32 at = 0; at < s->n; at++)
        link_event(s, at);
    for (u32 i = 0; i < s->cap_places; i++)
        s->places[i].signals = s->places[i].waits = 0;
    for (u32 t = 0; t < p->threads; t++) {
        for (u32 h = dh_predict_holding_at(p, t, s->at[t]); h; h = p->holdings[h].outer) {
            s->places[place_of(s, p->sections[p->holdings[h].section].lock)].taken = true;
        }
    }
    return true;
}

/* ---- Events: what can come next, doing it, and going back ---- */

/* The next event of the thread, by its place; DH_NONE: it has done all that it has to. */
static u32 next_of(const struct dh_osr_search *s, u32 t)
{
    const struct dh_predict *p = s->p;
    return s->at[t] == s->cut[t] ? DH_NONE : find_event(s, p->order[p->first[t] + s->at[t]]);
}

static bool needs_are_done(const struct dh_osr_search *s, u32 event, u32 t)
{
    return dh_versions_within(&s->p->versions, dh_predict_need(s->p, event), s->at, t);
}

/* Does the section that event `at` begins end in the cut? */
static bool section_ends(const struct dh_osr_search *s, u32 at)
{
    const struct dh_predict *p = s->p;
    const struct dh_event *e = event_of(s, at);
    u32 h = dh_predict_holding_at(p, e->thread, s->cut[e->thread]);
    const struct dh_section *held = dh_predict_find_lock(p, h, e->target);
    return !held || held->acq != s->events[at].event;
}

/* The next place of the window below an object, in the tree of its copies; DH_NONE: no more. *object: where
 * the walk is, at first `root` itself. */
static u32 next_copy(const struct dh_osr_search *s, u32 root, u32 *object)
{
    const struct dh_predict *p = s->p;
    for (;;) {
        u32 o = *object;
        if (p->child[o] != DH_NONE) {
            o = p->child[o];
        } else {
            while (o != root && p->sibling[o] == DH_NONE)
                o = p->parent[o];
            if (o == root)
                return DH_NONE;
            o = p->sibling[o];
        }
        *object = o;
        u32 at = find_place(s, o);
        if (s->places[at].id == o)
            return at;
    }
}

/* Is this the last write to the object, what it is a copy of, and its copies? */
static bool is_last(const struct dh_osr_search *s, const struct dh_osr_place *place)
{
    u32 o = place->id, copy, writes = place->writes;
    while (place->copied && (copy = next_copy(s, place->id, &o)) != DH_NONE)
        writes += s->places[copy].writes;
    for (o = place->copied ? s->p->parent[place->id] : DH_NONE; o != DH_NONE; o = s->p->parent[o])
        writes += s->places[find_place(s, o)].id == o ? s->places[find_place(s, o)].writes : 0;
    return writes == 1;
}

/* Have all readers seen what a write to this object, and so to its copies, would replace? */
static bool is_seen(const struct dh_osr_search *s, const struct dh_osr_place *place)
{
    u32 o = place->id, copy;
    bool seen = place->unseen == 0;
    while (seen && place->copied && (copy = next_copy(s, place->id, &o)) != DH_NONE)
        seen = s->places[copy].unseen == 0;
    /* What was done before the copy was made comes before what is done to the copy. */
    for (o = place->copied ? s->p->parent[place->id] : DH_NONE; seen && o != DH_NONE; o = s->p->parent[o])
        seen = s->places[find_place(s, o)].id != o || s->places[find_place(s, o)].reads == 0;
    return seen;
}

enum turn { NOT_YET, CHOICE, AT_ONCE };

/* A write waits until all readers have seen what it replaces. */
static enum turn turn_of_access(const struct dh_osr_search *s, const struct dh_osr_event *x,
                                const struct dh_osr_place *place, enum dh_effect effect)
{
    switch (effect) {
    case DH_EFFECT_READ:
        return place->current == x->seen ? AT_ONCE : NOT_YET;
    case DH_EFFECT_BOTH:
        return place->current == x->seen && place->unseen == 1 ? AT_ONCE : NOT_YET;
    case DH_EFFECT_WRITE:
        return !is_seen(s, place) ? NOT_YET : is_last(s, place) ? AT_ONCE : CHOICE;
    case DH_EFFECT_SIGNAL:
        return place->waits == x->seen ? AT_ONCE : NOT_YET;
    case DH_EFFECT_COLLECT:
        return place->signals == x->seen ? AT_ONCE : NOT_YET;
    default:
        return AT_ONCE;
    }
}

static enum turn turn_of(struct dh_osr_search *s, u32 at)
{
    const struct dh_osr_event *x = &s->events[at];
    const struct dh_event *e = event_of(s, at);
    s->steps++;
    if (x->users || !needs_are_done(s, x->event, e->thread))
        return NOT_YET;
    if (x->object == DH_NONE)
        return AT_ONCE;
    const struct dh_osr_place *place = &s->places[x->object];
    if (!is_mutex(s->p, e))
        return turn_of_access(s, x, place, dh_predict_effect(s->p, e));
    if (e->op == DH_OP_RELEASE)
        return AT_ONCE;
    if (place->taken)
        return NOT_YET;
    return place->writes == 1 ? AT_ONCE : section_ends(s, at) ? CHOICE : NOT_YET;
}

static u64 mark_of(const struct dh_osr_place *place)
{
    return dh_hash64((u64)place->id << 32 | place->current);
}

static struct dh_osr_done *log_done(struct dh_osr_search *s, u32 at, u32 place)
{
    if (!room(s, (void **)&s->done, s->n_done, &s->cap_done, sizeof(*s->done)))
        return NULL;
    struct dh_osr_done *done = &s->done[s->n_done++];
    *done = (struct dh_osr_done){.at = at, .place = place};
    if (place != DH_NONE)
        done->current = s->places[place].current, done->unseen = s->places[place].unseen;
    return done;
}

static void set_current(struct dh_osr_search *s, u32 place, u32 at, u32 unseen)
{
    s->hash ^= mark_of(&s->places[place]);
    s->places[place].current = at;
    s->places[place].unseen = unseen;
    s->hash ^= mark_of(&s->places[place]);
}

/* How many events see the write through this object. */
static u32 sight_through(const struct dh_osr_search *s, u32 place, u32 at)
{
    u32 n = 0;
    for (u32 i = at + 1; i < s->n; i++)
        n += s->events[i].object == place && s->events[i].seen == at && event_of(s, i)->op == DH_OP_READ;
    return n;
}

static bool write_to_copies(struct dh_osr_search *s, u32 place, u32 at)
{
    u32 root = s->places[place].id, o = root, copy;
    while ((copy = next_copy(s, root, &o)) != DH_NONE) {
        if (!log_done(s, DH_NONE, copy))
            return false;
        set_current(s, copy, at, sight_through(s, copy, at));
    }
    return true;
}

static bool execute(struct dh_osr_search *s, u32 at)
{
    struct dh_osr_event *x = &s->events[at];
    const struct dh_event *e = event_of(s, at);
    struct dh_osr_place *place = x->object == DH_NONE ? NULL : &s->places[x->object];
    enum dh_effect effect = dh_predict_effect(s->p, e);
    bool copied = x->object != DH_NONE && place->copied && dh_effect_changes(effect);
    if ((copied && !write_to_copies(s, x->object, at)) || !log_done(s, at, x->object))
        return false;
    s->executed++;
    s->at[e->thread]++;
    s->hash ^= dh_hash64(~(u64)x->event);
    if (x->death != DH_NONE)
        s->events[x->death].users--;
    if (!place)
        return true;
    if (is_mutex(s->p, e)) {
        place->taken = e->op == DH_OP_ACQUIRE;
        place->writes -= place->taken;
    } else if (effect == DH_EFFECT_SIGNAL) {
        place->signals++;
    } else if (effect == DH_EFFECT_COLLECT) {
        place->waits++;
    } else if (dh_effect_changes(effect)) {
        place->writes--;
        set_current(s, x->object, at, copied ? sight_through(s, x->object, at) : x->sight);
    } else {
        place->unseen--;
        place->reads--;
    }
    return true;
}

static void undo(struct dh_osr_search *s)
{
    struct dh_osr_done done = s->done[--s->n_done];
    struct dh_osr_event *x = &s->events[done.at];
    const struct dh_event *e = event_of(s, done.at);
    struct dh_osr_place *place = x->object == DH_NONE ? NULL : &s->places[x->object];
    enum dh_effect effect = dh_predict_effect(s->p, e);
    s->at[e->thread]--;
    s->executed--;
    if (x->death != DH_NONE)
        s->events[x->death].users++;
    if (!place)
        return;
    place->current = done.current;
    place->unseen = done.unseen;
    for (; s->n_done && s->done[s->n_done - 1].at == DH_NONE; s->n_done--) {
        const struct dh_osr_done *copy = &s->done[s->n_done - 1];
        s->places[copy->place].current = copy->current;
        s->places[copy->place].unseen = copy->unseen;
    }
    if (is_mutex(s->p, e)) {
        place->writes += e->op == DH_OP_ACQUIRE;
        place->taken = e->op != DH_OP_ACQUIRE;
    } else if (effect == DH_EFFECT_SIGNAL) {
        place->signals--;
    } else if (effect == DH_EFFECT_COLLECT) {
        place->waits--;
    } else {
        place->writes += dh_effect_changes(effect);
        place->reads += !dh_effect_changes(effect);
    }
}

/* ---- The search through one cut ---- */

static bool grow_met(struct dh_osr_search *s)
{
    u32 cap = s->cap_met ? s->cap_met * 2 : 1 << 10;
    u64 *met = dh_detect_alloc(s->p->d, (size_t)cap * sizeof(*met));
    if (!met)
        return false;
    for (u32 i = 0; i < s->cap_met; i++) {
        u32 at = (u32)s->met[i] & (cap - 1);
        while (s->met[i] && met[at])
            at = (at + 1) & (cap - 1);
        if (s->met[i])
            met[at] = s->met[i];
    }
    dh_detect_free(s->p->d, s->met, (size_t)s->cap_met * sizeof(*met));
    s->met = met;
    s->cap_met = cap;
    return true;
}

/* Was this state entered before in this search? It is now. */
static bool is_met(struct dh_osr_search *s)
{
    u64 key = dh_hash64(s->hash ^ dh_hash64(s->round)) | 1;
    if (s->n_met * 2 >= s->cap_met && !grow_met(s))
        return true;
    u32 at = (u32)key & (s->cap_met - 1);
    for (; s->met[at]; at = (at + 1) & (s->cap_met - 1)) {
        if (s->met[at] == key)
            return true;
    }
    s->met[at] = key;
    s->n_met++;
    return false;
}

/* Executes all events that cannot block others. */
static bool do_harmless(struct dh_osr_search *s)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 t = 0; t < s->p->threads; t++) {
            u32 at;
            while ((at = next_of(s, t)) != DH_NONE && turn_of(s, at) == AT_ONCE) {
                if (!execute(s, at))
                    return false;
                changed = true;
            }
        }
    }
    return true;
}

/* The threads that could continue, in trace order of their next events. */
static bool add_branch(struct dh_osr_search *s)
{
    u32 from = s->n_choices;
    for (u32 t = 0; t < s->p->threads; t++) {
        u32 at = next_of(s, t), k;
        if (at == DH_NONE || turn_of(s, at) == NOT_YET)
            continue;
        if (!room(s, (void **)&s->choices, s->n_choices, &s->cap_choices, sizeof(*s->choices)))
            return false;
        for (k = s->n_choices++; k > from && s->choices[k - 1] > at; k--)
            s->choices[k] = s->choices[k - 1];
        s->choices[k] = at;
    }
    if (!room(s, (void **)&s->branches, s->n_branches, &s->cap_branches, sizeof(*s->branches)))
        return false;
    s->branches[s->n_branches++] =
        (struct dh_osr_branch){.done = s->n_done, .from = from, .end = s->n_choices, .hash = s->hash};
    return true;
}

/* Back to the last state with a choice left, and one step on from there. False: there is none. */
static bool choose(struct dh_osr_search *s)
{
    while (s->n_branches) {
        struct dh_osr_branch *b = &s->branches[s->n_branches - 1];
        while (s->n_done > b->done)
            undo(s);
        s->hash = b->hash;
        if (b->from < b->end)
            return execute(s, s->choices[b->from++]);
        s->n_branches--;
        s->n_choices = s->n_branches ? s->branches[s->n_branches - 1].end : 0;
    }
    return false;
}

static enum dh_osr_answer search_window(struct dh_osr_search *s)
{
    if (!make_window(s))
        return DH_OSR_OPEN;
    s->round++;
    s->hash = 0;
    s->n_done = s->n_branches = s->n_choices = s->executed = 0;
    if (s->n_met > DH_OSR_SEARCH_PAIR) {
        memset(s->met, 0, (size_t)s->cap_met * sizeof(*s->met));
        s->n_met = 0;
    }
    do {
        if (!do_harmless(s) || s->steps > s->stop)
            return DH_OSR_OPEN;
        if (s->executed == s->n)
            return DH_OSR_RACE;
        if (!is_met(s) && !add_branch(s))
            return DH_OSR_OPEN;
    } while (choose(s));
    return s->p->d->failed ? DH_OSR_OPEN : DH_OSR_NO_RACE;
}

/* Where the first thread whose open section must come after a later one began to hold locks. */
static u32 first_reversed(const struct dh_osr_search *s)
{
    const struct dh_predict *p = s->p;
    u32 start = DH_NONE, last = dh_predict_last(p, s->cut);
    for (u32 t = 0; t < p->threads; t++) {
        for (u32 h = dh_predict_holding_at(p, t, s->cut[t]); h; h = p->holdings[h].outer) {
            const struct dh_section *section = &p->sections[p->holdings[h].section];
            if (!dh_predict_followed(p, p->holdings[h].section, s->cut, last))
                continue;
            start = section->acq < start ? section->acq : start;
            for (u32 k = dh_predict_holding(p, section->acq); k; k = p->holdings[k].outer) {
                const struct dh_section *outer = &p->sections[p->holdings[k].section];
                start = outer->acq < start ? outer->acq : start;
            }
        }
    }
    return start;
}

static bool is_dead(const struct dh_osr_search *s, u32 access)
{
    u32 death = s->p->death[s->p->object[access]];
    return death != DH_NONE && dh_predict_in_cut(s->p, s->cut, death);
}

static enum dh_osr_answer search_cut(struct dh_osr_search *s, const u32 *cut)
{
    u32 last = dh_predict_last(s->p, cut);
    s->cut = cut;
    if (is_dead(s, s->earlier) || is_dead(s, s->now))
        return DH_OSR_NO_RACE;
    s->start = first_reversed(s);
    enum dh_osr_answer answer = search_window(s);
    if (answer != DH_OSR_NO_RACE || s->start == 0)
        return answer;
    if (last != DH_NONE && last >= DH_OSR_SEARCH_WHOLE)
        return DH_OSR_OPEN;
    s->start = 0;
    return search_window(s);
}

/* ---- Which cut ---- */

enum fate { STAYS, ENDS, UNDECIDED };

static enum fate fate_of(const struct dh_osr_search *s, const u32 *cut, u32 section, u32 n)
{
    const struct dh_predict *p = s->p;
    u32 lock = p->sections[section].lock;
    const struct dh_section *held = dh_predict_find_lock(p, dh_predict_holding(p, s->earlier), lock);
    if (!held)
        held = dh_predict_find_lock(p, dh_predict_holding(p, s->now), lock);
    if (held)
        return held == &p->sections[section] ? STAYS : ENDS;
    for (u32 k = 0; k < n; k++) {
        const struct dh_osr_decision *d = &s->decisions[k];
        if (d->section == section)
            return d->stays ? STAYS : ENDS;
        if (d->stays && p->sections[d->section].lock == lock)
            return ENDS;
    }
    return dh_predict_alone(p, section, cut) ? STAYS : UNDECIDED;
}

/* Closes the cut with n decisions. False: it cannot be, or one of the accesses is in it. *ret_open: a section
 * that has to be decided about; DH_NONE: none. */
static bool close(struct dh_osr_search *s, u32 *cut, u32 n, u32 *ret_open)
{
    const struct dh_predict *p = s->p;
    const struct dh_event *events = p->trace->events;
    for (bool changed = true; changed;) {
        changed = false;
        *ret_open = DH_NONE;
        for (u32 t = 0; t < p->threads; t++) {
            s->steps++;
            for (u32 h = dh_predict_holding_at(p, t, cut[t]); h; h = p->holdings[h].outer) {
                u32 section = p->holdings[h].section;
                enum fate fate = fate_of(s, cut, section, n);
                if (fate == UNDECIDED)
                    *ret_open = section;
                if (fate != ENDS)
                    continue;
                if (p->sections[section].rel == DH_NONE)
                    return false;
                dh_predict_absorb(p, cut, p->sections[section].rel, true);
                changed = true;
                break; /* the list is of the old cut */
            }
            if (cut[events[s->earlier].thread] > p->local[s->earlier] ||
                cut[events[s->now].thread] > p->local[s->now])
                return false;
        }
    }
    return true;
}

/* The cut with n decisions, and all that further ones make of it. */
static enum dh_osr_answer search_cuts(struct dh_osr_search *s, u32 n)
{
    u32 *cut = s->cuts + (size_t)n * s->p->threads, open;
    if (s->steps > s->stop)
        return DH_OSR_OPEN;
    if (!close(s, cut, n, &open))
        return DH_OSR_NO_RACE;
    if (open == DH_NONE)
        return search_cut(s, cut);
    if (n == DH_OSR_DECISIONS)
        return DH_OSR_OPEN;
    enum dh_osr_answer answers[2];
    for (u32 stays = 0; stays < 2; stays++) {
        memcpy(cut + s->p->threads, cut, s->p->threads * sizeof(*cut));
        s->decisions[n] = (struct dh_osr_decision){.section = open, .stays = stays};
        answers[stays] = search_cuts(s, n + 1);
        if (answers[stays] == DH_OSR_RACE)
            return DH_OSR_RACE;
    }
    return answers[0] == DH_OSR_OPEN ? DH_OSR_OPEN : answers[1];
}

enum dh_osr_answer dh_osr_search(struct dh_osr_search *s, u32 earlier, u32 now)
{
    const struct dh_predict *p = s->p;
    if (s->steps >= s->limit)
        return DH_OSR_OPEN;
    if (!s->at) {
        s->at = dh_detect_alloc(p->d, ((size_t)p->threads + 1) * sizeof(u32));
        s->cuts = dh_detect_alloc(p->d, ((size_t)p->threads * (DH_OSR_DECISIONS + 1) + 1) * sizeof(u32));
    }
    if (p->d->failed || !dh_links_make(p))
        return DH_OSR_OPEN;
    s->stop = s->steps + DH_OSR_SEARCH_PAIR;
    s->earlier = earlier;
    s->now = now;
    memset(s->cuts, 0, p->threads * sizeof(u32));
    dh_predict_absorb(p, s->cuts, earlier, false);
    dh_predict_absorb(p, s->cuts, now, false);
    return search_cuts(s, 0);
}

u32 dh_osr_search_start(const struct dh_osr_search *s)
{
    u32 start = dh_witness_beginning(s->p, s->cut);
    return start < s->start ? start : s->start;
}

u32 dh_osr_search_sequence(const struct dh_osr_search *s, u32 start, u32 *ret_sequence)
{
    const struct dh_predict *p = s->p;
    u32 n = 0, last = dh_predict_last(p, s->cut);
    for (u32 i = start; last != DH_NONE && i <= last && i < s->start; i++) {
        if (dh_predict_in_cut(p, s->cut, i))
            ret_sequence[n++] = i;
    }
    for (u32 k = 0; k < s->n_done; k++) {
        if (s->done[k].at != DH_NONE)
            ret_sequence[n++] = s->events[s->done[k].at].event;
    }
    return n;
}
