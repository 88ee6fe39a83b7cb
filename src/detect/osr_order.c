/*
 * osr_order.c - whether the events of a cut can be put in an order that reverses critical sections. See osr.c
 * for the paper.
 *
 * Every order between events of the cut goes forward in the trace but the reversals: from the last release of
 * a lock in the cut to the acquisition of a section that is held at the end and stood earlier in the trace.
 * So the whole order has no cycle if and only if levels can be given such that no forward step goes down and
 * every reversal goes up. A scan of the trace from the first reversed acquisition on propagates levels; what
 * a release lacks is asked of the acquisition in the next scan. With n reversals no level exceeds n unless
 * there is a cycle.
 */
#include <errno.h>
#include <string.h>

#include "detect/osr.h"

int dh_osr_order_init(struct dh_osr_order *o, const struct dh_predict *p)
{
    *o = (struct dh_osr_order){.p = p};
    o->objects = dh_detect_alloc(p->d, ((size_t)p->objects + 1) * sizeof(*o->objects));
    o->threads = dh_detect_alloc(p->d, (size_t)p->threads + 1);
    o->level = dh_detect_alloc(p->d, (size_t)p->n + 1);
    return p->d->failed ? -ENOMEM : 0;
}

enum dh_osr_closed dh_osr_close(const struct dh_predict *p, u32 *cut, u32 earlier, u32 now)
{
    const struct dh_event *events = p->trace->events;
    u32 held_1 = p->holding[earlier], held_2 = p->holding[now];
    for (bool changed = true; changed;) {
        changed = false;
        u32 last = dh_predict_last(p, cut);
        for (u32 t = 0; t < p->threads; t++) {
            for (u32 h = dh_predict_holding_at(p, t, cut[t]); h; h = p->holdings[h].outer) {
                const struct dh_section *s = &p->sections[p->holdings[h].section];
                const struct dh_section *stays = dh_predict_find_lock(p, held_1, s->lock);
                if (!stays)
                    stays = dh_predict_find_lock(p, held_2, s->lock);
                if (stays ? stays == s : !dh_predict_followed(p, s, cut, last))
                    continue;
                if (s->rel == DH_NONE)
                    return DH_OSR_NO;
                dh_predict_absorb(p, cut, s->rel, true);
                changed = true;
                break; /* the list is of the old cut */
            }
            if (cut[events[earlier].thread] > p->local[earlier])
                return DH_OSR_EARLIER_IN;
            if (cut[events[now].thread] > p->local[now])
                return DH_OSR_NO;
        }
    }
    return DH_OSR_CLOSED;
}

/* The reversals that the locks of one access ask for. */
static bool add_reversals(struct dh_osr_order *o, const u32 *cut, u32 last, u32 access)
{
    const struct dh_predict *p = o->p;
    for (u32 h = p->holding[access]; h; h = p->holdings[h].outer) {
        const struct dh_section *held = &p->sections[p->holdings[h].section], *s = held;
        u32 tail = DH_NONE;
        for (u32 i = s->next; i != DH_NONE; i = s->next) {
            s = &p->sections[i];
            if (s->acq > last)
                break;
            if (p->local[s->acq] < cut[s->thread])
                tail = s->rel;
        }
        if (tail == DH_NONE)
            continue;
        if (o->n == DH_OSR_REVERSALS)
            return false;
        o->reversals[o->n++] = (struct dh_reversal){.head = held->acq, .tail = tail, .least = 1};
    }
    return true;
}

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
        struct dh_reversal *r = &o->reversals[k];
        if (r->head == i)
            r->head_level = level = max(level, r->least);
    }
    return level;
}

/* False: a cycle is certain. */
static bool release(struct dh_osr_order *o, u32 i, u8 level)
{
    struct dh_osr_object *lock = object_at(o, o->p->trace->events[i].target);
    lock->written = max(lock->written, level);
    for (u32 k = 0; k < o->n; k++) {
        struct dh_reversal *r = &o->reversals[k];
        if (r->tail == i) {
            r->tail_level = level;
            if (level >= o->n)
                return false;
        }
    }
    return true;
}

static u8 access_object(struct dh_osr_order *o, enum dh_effect effect, u32 i, u8 level)
{
    struct dh_osr_object *x = object_at(o, o->p->object[i]);
    level = max(level, x->written);
    if (effect == DH_EFFECT_READ)
        x->read = max(x->read, level);
    else
        x->written = level = max(level, x->read);
    return level;
}

/* Gives levels to the events of the cut in [from, to]. False: a cycle is certain. */
static bool scan(struct dh_osr_order *o, const u32 *cut, u32 from, u32 to)
{
    const struct dh_predict *p = o->p;
    u8 all = 0; /* memory that is freed or moved: nothing passes it */
    o->stamp++;
    o->top = 0;
    memset(o->threads, 0, p->threads);
    for (u32 i = from; i <= to; i++) {
        const struct dh_event *e = &p->trace->events[i];
        if (p->local[i] >= cut[e->thread])
            continue;
        u8 level = max(all, o->threads[e->thread]);
        enum dh_effect effect = dh_predict_effect(p, e);
        if (e->op == DH_OP_RANGE_NEW || e->op == DH_OP_RANGE_FREE || e->op == DH_OP_RANGE_MOVE)
            all = level = o->top;
        else if (effect != DH_EFFECT_NONE)
            level = access_object(o, effect, i, level);
        else if (e->op == DH_OP_ACQUIRE)
            level = acquire(o, i, level);
        else if (e->op == DH_OP_RELEASE && !release(o, i, level))
            return false;
        else if (e->op == DH_OP_JOIN)
            level = max(level, o->threads[e->target]);
        else if (e->op == DH_OP_FORK)
            o->threads[e->target] = max(o->threads[e->target], level);
        o->threads[e->thread] = o->level[i] = level;
        o->top = max(o->top, level);
    }
    return true;
}

bool dh_osr_order_find(struct dh_osr_order *o, const u32 *cut, u32 earlier, u32 now)
{
    u32 last = dh_predict_last(o->p, cut);
    o->n = 0;
    o->top = 0;
    if (!add_reversals(o, cut, last, earlier) || !add_reversals(o, cut, last, now))
        return false;
    if (o->n == 0)
        return true;
    u32 from = DH_NONE, to = 0;
    for (u32 k = 0; k < o->n; k++) {
        from = o->reversals[k].head < from ? o->reversals[k].head : from;
        to = o->reversals[k].tail > to ? o->reversals[k].tail : to;
    }
    for (bool changed = true; changed;) {
        if (!scan(o, cut, from, to))
            return false;
        changed = false;
        for (u32 k = 0; k < o->n; k++) {
            struct dh_reversal *r = &o->reversals[k];
            if (r->tail_level < r->head_level)
                continue;
            r->least = r->tail_level + 1;
            changed = true;
        }
    }
    memset(o->level, 0, from);
    return scan(o, cut, from, last);
}

bool dh_osr_pair(struct dh_osr_order *o, u32 *cut, u32 earlier, u32 now)
{
    const struct dh_predict *p = o->p;
    if (dh_predict_share_lock(p, p->holding[earlier], p->holding[now]))
        return false;
    memset(cut, 0, p->threads * sizeof(*cut));
    dh_predict_absorb(p, cut, earlier, false);
    dh_predict_absorb(p, cut, now, false);
    return dh_osr_close(p, cut, earlier, now) == DH_OSR_CLOSED && dh_osr_order_find(o, cut, earlier, now);
}
