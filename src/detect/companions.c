/*
 * companions.c - see companions.h.
 */
#include "detect/companions.h"

#include <string.h>

#include "detect/detector.h"

struct link {
    u32 thread;
    u32 next; /* companion + 1 */
};

bool dh_companions_possible(const struct dh_detector *d)
{
    return d->cells.size && !d->ops->plain_only;
}

static struct link *link_of(struct dh_companions *c, u32 companion)
{
    return dh_table_at(&c->links, companion);
}

/* An unused companion, its state zeroed. Its number + 1; 0: no memory. */
static u32 take(struct dh_detector *d)
{
    struct dh_companions *c = &d->companions;
    if (c->spare) {
        u32 taken = c->spare;
        c->spare = link_of(c, taken - 1)->next;
        return taken;
    }
    c->heads.size = sizeof(u32);
    c->links.size = sizeof(struct link);
    c->states.size = d->cells.size;
    if (!link_of(c, c->n) || !dh_table_at(&c->states, c->n))
        return 0;
    return ++c->n;
}

void *dh_companions_get(struct dh_detector *d, u32 cell, u32 tid)
{
    struct dh_companions *c = &d->companions;
    const u32 *known = dh_table_get(&c->heads, cell);
    for (u32 i = known ? *known : 0; i; i = link_of(c, i - 1)->next) {
        if (link_of(c, i - 1)->thread == tid)
            return dh_table_at(&c->states, i - 1);
    }
    u32 made = take(d);
    u32 *head = made ? dh_table_at(&c->heads, cell) : NULL;
    if (!head) {
        d->failed = true;
        return NULL;
    }
    void *state = dh_table_at(&c->states, made - 1);
    const void *own = dh_table_get(&d->cells, cell);
    if (own && d->ops->cell_copy)
        d->ops->cell_copy(d, state, own);
    else if (own)
        memcpy(state, own, d->cells.size);
    *link_of(c, made - 1) = (struct link){.thread = tid, .next = *head};
    *head = made;
    return state;
}

void dh_companions_show(struct dh_detector *d, const struct dh_event *e, void *thread)
{
    struct dh_companions *c = &d->companions;
    const u32 *head = dh_table_get(&c->heads, e->target);
    for (u32 i = head ? *head : 0; i; i = link_of(c, i - 1)->next)
        (e->op == DH_OP_READ ? d->ops->read : d->ops->write)(d, e, thread, dh_table_at(&c->states, i - 1));
}

void dh_companions_drop(struct dh_detector *d, u32 cell)
{
    struct dh_companions *c = &d->companions;
    u32 *head = dh_table_get(&c->heads, cell);
    while (head && *head) {
        u32 i = *head;
        void *state = dh_table_at(&c->states, i - 1);
        if (d->ops->cell_drop)
            d->ops->cell_drop(d, state);
        memset(state, 0, d->cells.size);
        *head = link_of(c, i - 1)->next;
        link_of(c, i - 1)->next = c->spare;
        c->spare = i;
    }
}

void dh_companions_move(struct dh_detector *d, u32 to, u32 from)
{
    struct dh_companions *c = &d->companions;
    u32 *source = dh_table_get(&c->heads, from);
    u32 *target = source && *source ? dh_table_at(&c->heads, to) : NULL;
    if (!target)
        return;
    *target = *source;
    *source = 0;
}

void dh_companions_copy(struct dh_detector *d, u32 to, u32 from)
{
    struct dh_companions *c = &d->companions;
    const u32 *source = dh_table_get(&c->heads, from);
    for (u32 i = source ? *source : 0; i; i = link_of(c, i - 1)->next) {
        void *state = dh_companions_get(d, to, link_of(c, i - 1)->thread);
        if (!state)
            return;
        if (d->ops->cell_drop)
            d->ops->cell_drop(d, state);
        memset(state, 0, d->cells.size);
        if (d->ops->cell_copy)
            d->ops->cell_copy(d, state, dh_table_at(&c->states, i - 1));
        else
            memcpy(state, dh_table_at(&c->states, i - 1), d->cells.size);
    }
}

void dh_companions_done(struct dh_companions *c)
{
    dh_table_done(&c->heads);
    dh_table_done(&c->links);
    dh_table_done(&c->states);
}
