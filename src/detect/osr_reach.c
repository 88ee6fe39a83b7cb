/*
 * osr_reach.c - what must come after an acquisition inside a cut. See osr.c for the paper.
 *
 * All order goes forward in the trace, and in each thread the set is an end of what the cut has of it: one
 * number a thread. It is grown from the acquisition event by event: to the next events of the object, up to
 * one that writes it and so passes the order on; to the next section of a released lock; to a forked thread
 * and a join; to the end of a variable's life and the accesses of the next. The section in question is held
 * at the end of the cut, where its thread stops, so the set is mostly tiny, however long the trace is.
 */
#include <errno.h>
#include <string.h>

#include "detect/osr.h"

static u32 *none_array(struct dh_detector *d, size_t n)
{
    u32 *a = dh_detect_alloc(d, (n + 1) * sizeof(*a));
    if (a)
        memset(a, 0xff, (n + 1) * sizeof(*a));
    return a;
}

/* Backwards through the trace: what comes next is what was met last. */
static bool prepare(struct dh_osr_reach *r)
{
    const struct dh_predict *p = r->p;
    struct dh_detector *d = p->d;
    u32 *write = none_array(d, p->objects);
    r->next = none_array(d, p->n);
    r->next_write = none_array(d, p->n);
    r->opening = none_array(d, p->objects);
    r->joins = none_array(d, p->threads);
    r->from = dh_detect_alloc(d, ((size_t)p->threads + 1) * sizeof(u32));
    r->done = dh_detect_alloc(d, ((size_t)p->threads + 1) * sizeof(u32));
    r->waiting = dh_detect_alloc(d, ((size_t)p->threads + 1) * sizeof(u32));
    if (d->failed)
        return false;
    for (u32 i = p->n; i-- > 0;) {
        const struct dh_event *e = &p->trace->events[i];
        enum dh_effect effect = dh_predict_effect(p, e);
        if (e->op == DH_OP_JOIN) {
            r->next[i] = r->joins[e->target];
            r->joins[e->target] = i;
        } else if (effect != DH_EFFECT_NONE) {
            r->next[i] = r->opening[p->object[i]];
            r->opening[p->object[i]] = i;
            r->next_write[i] = write[p->object[i]];
            if (effect != DH_EFFECT_READ)
                write[p->object[i]] = i;
        }
    }
    dh_detect_free(d, write, ((size_t)p->objects + 1) * sizeof(u32));
    return true;
}

static void visit(struct dh_osr_reach *r, u32 i)
{
    u32 t = r->p->trace->events[i].thread, at = r->p->local[i];
    if (at >= r->from[t])
        return;
    if (r->from[t] == r->done[t]) /* else it waits already */
        r->waiting[r->n_waiting++] = t;
    r->from[t] = at;
}

/* Event i if it is in the part of the cut that matters, and whether it is. */
static bool reached(struct dh_osr_reach *r, u32 i)
{
    if (!dh_predict_in_cut(r->p, r->cut, i))
        return false;
    visit(r, i);
    return true;
}

/* From i on, events of one object and its copies that come after a write, or after a read. */
static void after_access(struct dh_osr_reach *r, u32 object, u32 i, bool write)
{
    const struct dh_predict *p = r->p;
    for (; i != DH_NONE && i <= r->to; i = write ? r->next[i] : r->next_write[i]) {
        bool writes = dh_predict_effect(p, &p->trace->events[i]) != DH_EFFECT_READ;
        r->steps++;
        if ((write || writes) && reached(r, i) && writes)
            return;
    }
    for (u32 c = p->child[object]; c != DH_NONE; c = p->sibling[c])
        after_access(r, c, r->opening[c], write);
}

/* A section that ends in the cut passes the order on to all that follow. */
static void after_release(struct dh_osr_reach *r, u32 i)
{
    const struct dh_predict *p = r->p;
    const struct dh_section *s = dh_predict_find_lock(p, p->holding[i], p->trace->events[i].target);
    for (u32 k = s ? s->next : DH_NONE; k != DH_NONE; k = s->next) {
        s = &p->sections[k];
        r->steps++;
        if (s->acq > r->to ||
            (reached(r, s->acq) && s->rel != DH_NONE && dh_predict_in_cut(p, r->cut, s->rel)))
            return;
    }
}

static void after_fork(struct dh_osr_reach *r, u32 i)
{
    const struct dh_predict *p = r->p;
    u32 t = p->trace->events[i].target, low = p->first[t], high = p->first[t + 1];
    while (low < high) {
        u32 mid = low + (high - low) / 2;
        if (p->order[mid] < i)
            low = mid + 1;
        else
            high = mid;
    }
    if (low < p->first[t + 1] && p->order[low] <= r->to)
        reached(r, p->order[low]);
}

static void follow(struct dh_osr_reach *r, u32 i)
{
    const struct dh_predict *p = r->p;
    const struct dh_event *e = &p->trace->events[i];
    enum dh_effect effect = dh_predict_effect(p, e);
    r->steps++;
    if (effect == DH_EFFECT_READ)
        after_access(r, p->object[i], r->next_write[i], false);
    else if (effect != DH_EFFECT_NONE)
        after_access(r, p->object[i], r->next[i], true);
    else if (e->op == DH_OP_RELEASE)
        after_release(r, i);
    else if (e->op == DH_OP_FORK)
        after_fork(r, i);
    else if (dh_predict_is_range(e)) {
        for (u32 o = p->object[i]; o != DH_NONE; o = p->born[o])
            after_access(r, o, r->opening[o], true);
    }
    u32 death = dh_event_is_access(e) ? p->death[p->object[i]] : DH_NONE;
    if (death != DH_NONE && death <= r->to)
        reached(r, death);
}

/* What thread t does from its new beginning up to its old one, and who joins it after that. */
static void follow_thread(struct dh_osr_reach *r, u32 t)
{
    const struct dh_predict *p = r->p;
    u32 at = r->from[t], end = r->done[t], i = p->order[p->first[t] + at];
    r->done[t] = at;
    for (u32 j = r->joins[t]; j != DH_NONE && j <= r->to; j = r->next[j]) {
        if (j > i)
            reached(r, j);
    }
    for (; at < end && r->steps < r->limit; at++) {
        i = p->order[p->first[t] + at];
        if (i > r->to)
            return;
        follow(r, i);
    }
}

bool dh_osr_reach(struct dh_osr_reach *r, const u32 *cut, u32 head, u32 to)
{
    const struct dh_predict *p = r->p;
    if (!r->next && !prepare(r))
        return false;
    r->cut = cut;
    r->to = to;
    r->n_waiting = 0;
    memcpy(r->from, cut, p->threads * sizeof(u32));
    memcpy(r->done, cut, p->threads * sizeof(u32));
    visit(r, head);
    while (r->n_waiting && r->steps < r->limit)
        follow_thread(r, r->waiting[--r->n_waiting]);
    return r->steps < r->limit;
}
