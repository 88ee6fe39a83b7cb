/*
 * predict_lives.c - see predict_lives.h.
 *
 * Ranges are long and most of their variables are never accessed again, so a variable only notes what it has
 * become; objects are created at the next access.
 */
#include "detect/predict_lives.h"

#define SHARES UINT32_MAX
#define UNBORN (UINT32_MAX - 1) /* nobody need have made it */

static bool sourced(const struct dh_event *e)
{
    return e->op == DH_OP_RANGE_MOVE || e->op == DH_OP_RANGE_COPY;
}

/* Cell k of a range event and where it comes from; false: only in a trace that is not well-formed. */
static bool cells_of(const struct dh_trace *trace, const struct dh_event *e, u32 k, u32 *ret_to,
                     u32 *ret_from)
{
    u64 to = (u64)e->target + k, from = sourced(e) ? (u64)e->site + k : to;
    *ret_to = (u32)to;
    *ret_from = (u32)from;
    return to < trace->cells && from < trace->cells;
}

u32 dh_lives_count(const struct dh_trace *trace, u32 *pending)
{
    u32 n = 0;
    for (u64 i = 0; i < trace->n; i++) {
        const struct dh_event *e = &trace->events[i];
        u32 to, from;
        for (u32 k = 0; dh_predict_is_range(e) && k < e->size; k++) {
            if (cells_of(trace, e, k, &to, &from))
                pending[to] = pending[from] = 1;
        }
        if (dh_event_is_access(e)) {
            n += pending[e->target];
            pending[e->target] = 0;
        }
    }
    for (u32 c = 0; c < trace->cells; c++)
        pending[c] = 0;
    return n;
}

bool dh_lives_init(struct dh_lives *l, struct dh_predict *p)
{
    const struct dh_trace *trace = p->trace;
    l->object = dh_detect_alloc(p->d, ((size_t)trace->cells + 1) * sizeof(u32));
    l->sharing = dh_detect_alloc(p->d, ((size_t)p->objects + 1) * sizeof(u32));
    if (p->d->failed)
        return false;
    for (u32 c = 0; c < trace->cells; c++)
        l->object[c] = trace->locks + c;
    l->next = trace->locks + trace->cells;
    return true;
}

void dh_lives_done(struct dh_lives *l, struct dh_predict *p)
{
    dh_detect_free(p->d, l->object, ((size_t)p->trace->cells + 1) * sizeof(u32));
    dh_detect_free(p->d, l->sharing, ((size_t)p->objects + 1) * sizeof(u32));
}

/* The variable is no longer what it was. */
static void leave(struct dh_lives *l, struct dh_predict *p, u32 cell, u32 i)
{
    u32 o = l->object[cell], pending = l->pending[cell];
    if (pending != 0 && (pending != SHARES || --l->sharing[o] > 0))
        return;
    if (p->death[o] == DH_NONE)
        p->death[o] = i;
}

static void copy(struct dh_lives *l, u32 to, u32 from)
{
    u32 o = l->object[from];
    if (l->pending[from] == 0) {
        l->pending[from] = SHARES;
        l->sharing[o] = 1;
    }
    if (l->pending[from] == SHARES)
        l->sharing[o]++;
    l->object[to] = o;
    l->pending[to] = l->pending[from];
}

void dh_lives_range(struct dh_lives *l, struct dh_predict *p, u32 i)
{
    const struct dh_event *e = &p->trace->events[i];
    u32 to, from;
    for (u32 k = 0; k < e->size && !(sourced(e) && e->target == e->site); k++) {
        if (!cells_of(p->trace, e, k, &to, &from))
            continue;
        leave(l, p, to, i);
        l->pending[to] = e->op == DH_OP_RANGE_NEW && e->mode & DH_BLANK ? UNBORN : i + 1;
        if (e->op == DH_OP_RANGE_COPY)
            copy(l, to, from);
        if (e->op == DH_OP_RANGE_MOVE) {
            l->object[to] = l->object[from];
            l->pending[to] = l->pending[from];
            l->pending[from] = i + 1;
        }
    }
}

/* Accesses to it come after this event. */
static void set_birth(struct dh_predict *p, u32 object, u32 birth)
{
    p->birth[object] = birth;
    if (birth == DH_NONE)
        return;
    p->born[object] = p->object[birth];
    p->object[birth] = object;
}

u32 dh_lives_access(struct dh_lives *l, struct dh_predict *p, u32 cell, bool *ret_new)
{
    u32 pending = l->pending[cell], from = l->object[cell];
    bool last = pending == SHARES && l->sharing[from] == 1; /* all others are gone unused */
    *ret_new = pending != 0 && !last;
    l->pending[cell] = 0;
    if (last)
        l->sharing[from] = 0;
    if (!*ret_new)
        return from;
    u32 made = l->next++;
    l->object[cell] = made;
    set_birth(p, made, pending == SHARES ? p->birth[from] : pending == UNBORN ? DH_NONE : pending - 1);
    if (pending == SHARES) {
        p->parent[made] = from;
        p->copied = true;
        p->sibling[made] = p->child[from];
        p->child[from] = made;
    }
    return made;
}
