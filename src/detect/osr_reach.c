/*
 * osr_reach.c - what must come after an acquisition inside a cut. See osr.c for the paper.
 *
 * All ordering goes forward in the trace, and in each thread the set is a suffix of its part of the cut: one
 * number per thread. It is grown from the acquisition, event by event: to the next events of the object, up
 * to one that writes it and so passes the ordering on; to the next section of a released lock; to a forked
 * thread and a join; to the freeing of a variable and the accesses of its successor. The section in question
 * is held at the end of the cut, where its thread stops, so the set is usually tiny, however long the trace
 * is.
 */
#include <errno.h>
#include <string.h>

#include "detect/osr.h"
#include "detect/predict_links.h"

/* The joins of each thread: counted one place ahead, so that filling them in leaves their beginnings. */
static bool find_joins(struct dh_osr_reach *r)
{
    const struct dh_predict *p = r->p;
    const struct dh_event *events = p->trace->events;
    r->first_join = dh_detect_alloc(p->d, ((size_t)p->threads + 2) * sizeof(u32));
    if (!r->first_join)
        return false;
    for (u32 i = 0; i < p->n; i++) {
        if (events[i].op == DH_OP_JOIN)
            r->first_join[events[i].target + 2]++;
    }
    for (u32 t = 0; t < p->threads; t++)
        r->first_join[t + 2] += r->first_join[t + 1];
    r->joins = dh_detect_alloc(p->d, ((size_t)r->first_join[p->threads + 1] + 1) * sizeof(u32));
    if (!r->joins)
        return false;
    for (u32 i = 0; i < p->n; i++) {
        if (events[i].op == DH_OP_JOIN)
            r->joins[r->first_join[events[i].target + 1]++] = i;
    }
    return true;
}

static bool prepare(struct dh_osr_reach *r)
{
    const struct dh_predict *p = r->p;
    r->from = dh_detect_alloc(p->d, ((size_t)p->threads + 1) * sizeof(u32));
    r->done = dh_detect_alloc(p->d, ((size_t)p->threads + 1) * sizeof(u32));
    r->waiting = dh_detect_alloc(p->d, ((size_t)p->threads + 1) * sizeof(u32));
    return !p->d->failed && find_joins(r) && dh_links_make(p);
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

/* The first write of the object from event i on that is in the cut, which passes the order on; DH_NONE. */
static u32 next_write(struct dh_osr_reach *r, u32 object, u32 i)
{
    const struct dh_link_list *writes = &r->p->links->writes;
    for (u32 k = dh_links_from(writes, object, i); k < writes->first[object + 1]; k++) {
        u32 w = writes->events[k];
        r->steps++;
        if (w > r->to)
            break;
        if (reached(r, w))
            return w;
    }
    return DH_NONE;
}

/* Events from i on, of one object and its copies, that come after a write, or after a read. */
static void after_access(struct dh_osr_reach *r, u32 object, u32 i, bool write)
{
    const struct dh_predict *p = r->p;
    const struct dh_link_list *reads = &p->links->reads;
    u32 next = next_write(r, object, i), to = next < r->to ? next : r->to;
    u32 k = write ? dh_links_from(reads, object, i) : reads->first[object + 1];
    for (; k < reads->first[object + 1] && reads->events[k] <= to; k++) {
        r->steps++;
        reached(r, reads->events[k]);
    }
    if (next != DH_NONE)
        return;
    for (u32 c = p->child[object]; c != DH_NONE; c = p->sibling[c])
        after_access(r, c, 0, write);
}

/* A section that ends in the cut passes the order on to all that follow. */
static void after_release(struct dh_osr_reach *r, u32 i)
{
    const struct dh_predict *p = r->p;
    const struct dh_section *s =
        dh_predict_find_lock(p, dh_predict_holding(p, i), p->trace->events[i].target);
    for (u32 k = s ? dh_predict_next_section(p, (u32)(s - p->sections)) : DH_NONE; k != DH_NONE;
         k = dh_predict_next_section(p, k)) {
        s = &p->sections[k];
        r->steps++;
        if (s->acq > r->to ||
            (reached(r, s->acq) && s->rel != DH_NONE && dh_predict_in_cut(p, r->cut, s->rel)))
            return;
    }
}

/* The joins of thread t after event i. */
static void follow_joins(struct dh_osr_reach *r, u32 t, u32 i)
{
    for (u32 k = r->first_join[t]; k < r->first_join[t + 1] && r->joins[k] <= r->to; k++) {
        if (r->joins[k] > i)
            reached(r, r->joins[k]);
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
    follow_joins(r, t, i); /* also of a thread that does nothing */
}

static void follow(struct dh_osr_reach *r, u32 i)
{
    const struct dh_predict *p = r->p;
    const struct dh_event *e = &p->trace->events[i];
    enum dh_effect effect = dh_predict_effect(p, e);
    r->steps++;
    if (effect != DH_EFFECT_NONE)
        after_access(r, p->object[i], i + 1, dh_effect_changes(effect));
    else if (e->op == DH_OP_RELEASE)
        after_release(r, i);
    else if (e->op == DH_OP_FORK)
        after_fork(r, i);
    else if (dh_predict_is_range(e)) {
        for (u32 o = p->object[i]; o != DH_NONE; o = p->born[o])
            after_access(r, o, 0, true);
    }
    u32 death = dh_event_is_access(e) ? p->death[p->object[i]] : DH_NONE;
    if (death != DH_NONE && death <= r->to)
        reached(r, death);
}

/* Follows what thread t does from its new beginning up to its old one, and the joins of t after that. */
static void follow_thread(struct dh_osr_reach *r, u32 t)
{
    const struct dh_predict *p = r->p;
    u32 at = r->from[t], end = r->done[t], i = p->order[p->first[t] + at];
    r->done[t] = at;
    follow_joins(r, t, i);
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
    if (!r->from && !prepare(r))
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
