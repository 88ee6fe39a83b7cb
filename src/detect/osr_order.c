/*
 * osr_order.c - can the events of a cut be put in an order that reverses critical sections? See osr.c for the
 * paper.
 *
 * All ordering between events of the cut goes forward in the trace, except the reversals: from the last
 * release of a lock in the cut to the acquisition of a section that is held at the end and came earlier in
 * the trace. So there is an order unless some reversals, each acquisition of which must come before the
 * release of the next, form a cycle. Levels are assigned such that no forward step goes down and every
 * reversal goes up; the witness is the cut level by level.
 *
 * A cycle of the earlier access's own reversals remains one for any later access: the cut only grows, and a
 * later release of a lock comes after an earlier one.
 */
#include <errno.h>
#include <string.h>

#include "detect/osr.h"

int dh_osr_order_init(struct dh_osr_order *o, const struct dh_predict *p)
{
    *o = (struct dh_osr_order){.p = p, .reach = {.p = p}, .search = {.p = p}};
    o->objects = dh_detect_alloc(p->d, ((size_t)p->objects + 1) * sizeof(*o->objects));
    o->threads = dh_detect_alloc(p->d, (size_t)p->threads + 1);
    o->level = dh_detect_alloc(p->d, (size_t)p->n + 1);
    o->reach.limit = (u64)p->n * DH_OSR_STEPS + DH_OSR_STEPS_SMALL;
    o->search.limit = (u64)p->n * DH_OSR_SEARCH_STEPS + DH_OSR_SEARCH_SMALL;
    return p->d->failed ? -ENOMEM : 0;
}

/* The section that thread t is in at the cut, whose last event in the trace is `last`, and must leave:
 * another one of its lock stays open, or follows in the cut. NULL: none. held: by the two accesses, whose
 * sections stay. */
static const struct dh_section *to_leave(const struct dh_predict *p, const u32 *cut, u32 last, u32 t,
                                         const u32 held[2])
{
    for (u32 h = dh_predict_held(p, t, cut[t]); h; h = p->holdings[h].outer) {
        const struct dh_section *s = &p->sections[p->holdings[h].section];
        const struct dh_section *stays = dh_predict_find_lock(p, held[0], s->lock);
        if (!stays)
            stays = dh_predict_find_lock(p, held[1], s->lock);
        if (stays ? stays != s : dh_predict_followed(p, p->holdings[h].section, cut, last))
            return s;
    }
    return NULL;
}

enum dh_osr_closed dh_osr_close(const struct dh_predict *p, u32 *cut, u32 earlier, u32 now)
{
    const struct dh_event *events = p->trace->events;
    const u32 held[2] = {dh_predict_holding(p, earlier), dh_predict_holding(p, now)};
    u32 last = dh_predict_last(p, cut), t = 0;
    dh_predict_hold(p, cut);
    /* Until no thread has anything to leave, one after the other. */
    for (u32 quiet = 0; quiet < p->threads;) {
        const struct dh_section *s = to_leave(p, cut, last, t, held);
        quiet = s ? 0 : quiet + 1;
        if (s && s->rel == DH_NONE)
            return DH_OSR_NO;
        if (s) {
            dh_predict_absorb(p, cut, s->rel, true);
            last = s->rel > last ? s->rel : last;
        }
        if (cut[events[earlier].thread] > p->local[earlier])
            return DH_OSR_EARLIER_IN;
        if (cut[events[now].thread] > p->local[now])
            return DH_OSR_NO;
        t = t + 1 == p->threads ? 0 : t + 1;
    }
    return DH_OSR_CLOSED;
}

/* The reversals required by the locks of one access. */
static bool add_reversals(struct dh_osr_order *o, const u32 *cut, u32 access)
{
    const struct dh_predict *p = o->p;
    for (u32 h = dh_predict_holding(p, access); h; h = p->holdings[h].outer) {
        u32 held = p->holdings[h].section, last = dh_predict_last_after(p, held, cut);
        if (last == DH_NONE)
            continue;
        if (o->n == DH_OSR_REVERSALS)
            return false;
        o->reversals[o->n++] =
            (struct dh_reversal){.head = p->sections[held].acq, .tail = p->sections[last].rel, .least = 1};
    }
    return true;
}

/* Which releases come after the acquisition of each reversal. */
static bool find_reversed(struct dh_osr_order *o, const u32 *cut)
{
    u32 to = 0;
    for (u32 k = 0; k < o->n; k++)
        to = o->reversals[k].tail > to ? o->reversals[k].tail : to;
    for (u32 k = 0; k < o->n; k++) {
        struct dh_reversal *r = &o->reversals[k];
        if (!dh_osr_reach(&o->reach, cut, r->head, to))
            return false;
        for (u32 j = 0; j < o->n; j++) {
            if (dh_osr_reaches(&o->reach, o->reversals[j].tail))
                r->before |= 1ull << j;
        }
    }
    return true;
}

/* Levels of the first n reversals. False: there is a cycle. */
static bool give_levels(struct dh_osr_order *o, u32 n)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 k = 0; k < n; k++) {
            for (u32 j = 0; j < n; j++) {
                u8 least = o->reversals[k].least + 1;
                if (!(o->reversals[k].before >> j & 1) || o->reversals[j].least >= least)
                    continue;
                if (least > n)
                    return false;
                o->reversals[j].least = least;
                changed = true;
            }
        }
    }
    return true;
}

/* An access must come before its variable is freed. */
static bool is_dead(const struct dh_predict *p, const u32 *cut, u32 access)
{
    u32 death = p->death[p->object[access]];
    return death != DH_NONE && dh_predict_in_cut(p, cut, death);
}

enum dh_osr_found dh_osr_order_find(struct dh_osr_order *o, const u32 *cut, u32 earlier, u32 now)
{
    o->n = 0;
    o->top = 0;
    o->searched = false;
    if (is_dead(o->p, cut, earlier))
        return DH_OSR_NEVER;
    if (!add_reversals(o, cut, earlier))
        return DH_OSR_NOT_NOW;
    u32 own = o->n;
    if (!add_reversals(o, cut, now) || !find_reversed(o, cut))
        return DH_OSR_NOT_NOW;
    if (!give_levels(o, own))
        return DH_OSR_NEVER;
    return give_levels(o, o->n) ? DH_OSR_FOUND : DH_OSR_NOT_NOW;
}

/* ---- Levels of all events, for the witness ---- */

static u8 max(u8 a, u8 b)
{
    return a > b ? a : b;
}

static struct dh_osr_object *object_at(struct dh_osr_order *o, u32 i)
{
    struct dh_osr_object *x = &o->objects[i];
    if (x->stamp != o->stamp)
        *x = (struct dh_osr_object){.stamp = o->stamp};
    return x;
}

static u8 acquire(struct dh_osr_order *o, u32 i, u8 level)
{
    level = max(level, object_at(o, o->p->trace->events[i].target)->written);
    for (u32 k = 0; k < o->n; k++) {
        if (o->reversals[k].head == i)
            level = max(level, o->reversals[k].least);
    }
    return level;
}

static void release(struct dh_osr_order *o, u32 i, u8 level)
{
    struct dh_osr_object *lock = object_at(o, o->p->trace->events[i].target);
    lock->written = max(lock->written, level);
}

static u8 access_object(struct dh_osr_order *o, enum dh_effect effect, u32 i, u8 level)
{
    struct dh_osr_object *x = object_at(o, o->p->object[i]);
    for (u32 k = o->p->object[i]; k != DH_NONE; k = o->p->parent[k]) {
        const struct dh_osr_object *past = object_at(o, k);
        level = max(level, past->written);
        if (dh_effect_changes(effect))
            level = max(level, past->read);
    }
    if (dh_effect_changes(effect))
        x->written = level;
    else
        x->read = max(x->read, level);
    return level;
}

/* A life's beginning has its level; the one that its end needs is put there, for when the scan comes to it.
 */
static u8 access_level(struct dh_osr_order *o, const u32 *cut, enum dh_effect effect, u32 i, u8 level)
{
    const struct dh_predict *p = o->p;
    u32 birth = p->birth[p->object[i]], death = p->death[p->object[i]];
    level = access_object(o, effect, i,
                          birth == DH_NONE || birth < o->from ? level : max(level, o->level[birth]));
    if (death != DH_NONE && dh_predict_in_cut(p, cut, death))
        o->level[death] = max(o->level[death], level);
    return level;
}

void dh_osr_order_levels(struct dh_osr_order *o, const u32 *cut)
{
    const struct dh_predict *p = o->p;
    u32 last = dh_predict_last(p, cut);
    o->from = DH_NONE;
    for (u32 k = 0; k < o->n; k++)
        o->from = o->reversals[k].head < o->from ? o->reversals[k].head : o->from;
    if (last == DH_NONE || o->from > last)
        return;
    o->stamp++;
    memset(o->threads, 0, p->threads);
    memset(o->level + o->from, 0, (size_t)last + 1 - o->from);
    for (u32 i = o->from; i <= last; i++) {
        const struct dh_event *e = &p->trace->events[i];
        if (p->local[i] >= cut[e->thread])
            continue;
        u8 level = max(o->level[i], o->threads[e->thread]);
        enum dh_effect effect = dh_predict_effect(p, e);
        if (dh_event_is_access(e))
            level = access_level(o, cut, effect, i, level);
        else if (effect != DH_EFFECT_NONE)
            level = access_object(o, effect, i, level);
        else if (e->op == DH_OP_ACQUIRE)
            level = acquire(o, i, level);
        else if (e->op == DH_OP_RELEASE)
            release(o, i, level);
        else if (e->op == DH_OP_JOIN)
            level = max(level, o->threads[e->target]);
        else if (e->op == DH_OP_FORK)
            o->threads[e->target] = max(o->threads[e->target], level);
        o->threads[e->thread] = o->level[i] = level;
        o->top = max(o->top, level);
    }
}

bool dh_osr_quick(struct dh_osr_order *o, u32 *cut, u32 earlier, u32 now)
{
    const struct dh_predict *p = o->p;
    memset(cut, 0, p->threads * sizeof(*cut));
    dh_predict_absorb(p, cut, earlier, false);
    dh_predict_absorb(p, cut, now, false);
    return dh_osr_close(p, cut, earlier, now) == DH_OSR_CLOSED &&
           dh_osr_order_find(o, cut, earlier, now) == DH_OSR_FOUND;
}

enum dh_osr_answer dh_osr_pair(struct dh_osr_order *o, u32 *cut, u32 earlier, u32 now)
{
    const struct dh_predict *p = o->p;
    if (dh_predict_share_lock(p, dh_predict_holding(p, earlier), dh_predict_holding(p, now)))
        return DH_OSR_NO_RACE;
    if (dh_osr_quick(o, cut, earlier, now))
        return DH_OSR_RACE;
    o->searched = true;
    enum dh_osr_answer answer = dh_osr_search(&o->search, earlier, now);
    p->d->given_up += answer == DH_OSR_OPEN;
    return answer;
}

u64 dh_osr_witness(struct dh_osr_order *o, struct dh_witness *w, const u32 *cut, u32 earlier, u32 now)
{
    if (o->searched) {
        u32 *room = dh_witness_room(w);
        u32 start = dh_osr_search_start(&o->search);
        return room
                   ? dh_witness_found(w, start, dh_osr_search_sequence(&o->search, start, room), earlier, now)
                   : 0;
    }
    dh_osr_order_levels(o, cut);
    return dh_witness_make(w, cut, o->n ? o->level : NULL, o->from, o->top, earlier, now);
}

int dh_osr_report(struct dh_osr_order *o, struct dh_witness *w, const u32 *cut, u32 earlier, u32 now)
{
    if (!dh_osr_witness(o, w, cut, earlier, now))
        return o->p->d->failed ? -ENOMEM : 0;
    return dh_witness_emit(w, true, earlier, now);
}
