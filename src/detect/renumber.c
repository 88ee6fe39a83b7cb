/*
 * renumber.c - see renumber.h.
 *
 * A thread has a list of numbers that are free to those it creates: of the threads it joined, and of those
 * that they had joined. A list is circular, identified by its last element, so that two can be joined in one
 * step.
 */
#include "detect/renumber.h"

#include <errno.h>

#include "base/pool.h"

/* A site of a thread that was not the first to have its number; the rest is an index. */
#define OWN_SITE (1u << 31)

struct number {
    u32 owner; /* + 1; 0: nobody yet */
    u32 first; /* the first owner, + 1 */
    u32 free;  /* last of the ring of numbers that are free to its owner's children, + 1; 0: none */
    u32 next;  /* in such a ring, + 1 */
};

static struct number *number_at(struct dh_renumber *r, u32 number)
{
    return dh_table_at(&r->numbers, number);
}

/* Numbers that are free to the owner of b become free to that of a as well. */
static void splice(struct dh_renumber *r, struct number *a, u32 last)
{
    if (a->free) {
        struct number *end = number_at(r, a->free - 1), *more = number_at(r, last - 1);
        u32 first = end->next;
        end->next = more->next;
        more->next = first;
    }
    a->free = last;
}

/* A number that is free to children of the owner of this one, + 1; 0: none. */
static u32 take_free(struct dh_renumber *r, struct number *parent)
{
    if (!parent->free)
        return 0;
    struct number *last = number_at(r, parent->free - 1);
    u32 taken = last->next;
    if (taken == parent->free)
        parent->free = 0;
    else
        last->next = number_at(r, taken - 1)->next;
    return taken;
}

/* The number of a thread, given on first sight; + 1. parent: its creator's number, + 1, or 0. 0: no memory.
 */
static u32 number_of(struct dh_renumber *r, u32 thread, u32 parent)
{
    u32 *known = dh_table_at(&r->threads, thread);
    if (!known || *known)
        return known ? *known : 0;
    struct number *own = thread < DH_RENUMBER_FROM ? number_at(r, thread) : NULL;
    struct number *by = parent ? number_at(r, parent - 1) : NULL;
    u32 number = own && !own->owner ? thread + 1 : by ? take_free(r, by) : 0;
    if (!number) {
        r->next = r->next < DH_RENUMBER_FROM ? DH_RENUMBER_FROM : r->next;
        number = ++r->next;
    }
    struct number *x = number_at(r, number - 1);
    if (!x)
        return 0;
    if (x->owner) { /* should it ever act again it is another thread */
        u32 *before = dh_table_at(&r->threads, x->owner - 1);
        *before = 0;
    }
    x->owner = thread + 1;
    x->first = x->first ? x->first : thread + 1;
    return *known = number;
}

static bool grow_index(struct dh_renumber *r)
{
    u32 cap = r->cap_index ? r->cap_index * 2 : 1024;
    u32 *index = dh_pool_alloc(cap * sizeof(*index));
    if (!index)
        return false;
    for (u32 i = 0; i < r->n_sites; i++) {
        u32 at = (u32)dh_hash64((u64)r->sites[i].thread << 32 | r->sites[i].site) & (cap - 1);
        while (index[at])
            at = (at + 1) & (cap - 1);
        index[at] = i + 1;
    }
    dh_pool_free(r->index, r->cap_index * sizeof(*index));
    r->index = index;
    r->cap_index = cap;
    return true;
}

/* What stands for a site of this thread. Without memory the site itself: the thread is then misnamed. */
static u32 own_site(struct dh_renumber *r, u32 thread, u32 site)
{
    if (site & OWN_SITE || (r->n_sites * 2 >= r->cap_index && !grow_index(r)))
        return site;
    u32 at = (u32)dh_hash64((u64)thread << 32 | site) & (r->cap_index - 1);
    for (; r->index[at]; at = (at + 1) & (r->cap_index - 1)) {
        const struct dh_renumber_site *s = &r->sites[r->index[at] - 1];
        if (s->site == site && s->thread == thread)
            return OWN_SITE | (r->index[at] - 1);
    }
    if (r->n_sites == OWN_SITE - 1 ||
        (r->n_sites == r->cap_sites &&
         !dh_mem_grow(&r->mem, (void **)&r->sites, r->n_sites, &r->cap_sites, sizeof(*r->sites))))
        return site;
    r->sites[r->n_sites++] = (struct dh_renumber_site){.site = site, .thread = thread};
    r->index[at] = r->n_sites;
    return OWN_SITE | (r->n_sites - 1);
}

static int renumber_event(struct dh_renumber *r, struct dh_event *e)
{
    u32 thread = e->thread, number = number_of(r, thread, 0), other = 0;
    bool forks = e->op == DH_OP_FORK;
    if (number && (forks || e->op == DH_OP_JOIN))
        other = number_of(r, e->target, forks ? number : 0);
    if (!number || (!other && (forks || e->op == DH_OP_JOIN)))
        return -ENOMEM;
    e->thread = number - 1;
    struct number *x = number_at(r, e->thread);
    if (dh_event_is_access(e) && x->first != thread + 1)
        e->site = own_site(r, thread, e->site);
    if (!other)
        return 0;
    u32 joined = e->target;
    e->target = other - 1;
    if (forks || other == number)
        return 0;
    struct number *ended = number_at(r, e->target);
    if (ended->owner != joined + 1)
        return 0; /* joined before */
    if (ended->free)
        splice(r, x, ended->free);
    ended->free = 0;
    ended->next = other;
    splice(r, x, other);
    return 0;
}

bool dh_renumber_due(const struct dh_renumber *r, const struct dh_event *events, size_t n)
{
    u32 most = 0;
    for (size_t i = 0; i < n && !r->active; i++) {
        u32 highest = events[i].thread;
        if (dh_event_space(events[i].op) == DH_SPACE_THREAD && events[i].target > highest)
            highest = events[i].target; /* forked, perhaps long before it acts */
        most = highest > most ? highest : most;
    }
    return r->active || most >= DH_RENUMBER_FROM;
}

int dh_renumber(struct dh_renumber *r, struct dh_event *events, size_t n)
{
    if (!dh_renumber_due(r, events, n))
        return 0;
    if (!r->active) {
        r->active = true;
        r->threads.size = sizeof(u32);
        r->numbers.size = sizeof(struct number);
    }
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++)
        rc = renumber_event(r, &events[i]);
    return rc;
}

void dh_renumber_restore(const struct dh_renumber *r, u32 *thread, u32 *site)
{
    if (!r->active)
        return;
    if (*site & OWN_SITE && (*site & ~OWN_SITE) < r->n_sites) {
        const struct dh_renumber_site *s = &r->sites[*site & ~OWN_SITE];
        *thread = s->thread;
        *site = s->site;
        return;
    }
    const struct number *x = dh_table_get(&r->numbers, *thread);
    if (x && x->first)
        *thread = x->first - 1;
}

void dh_renumber_done(struct dh_renumber *r)
{
    dh_table_done(&r->threads);
    dh_table_done(&r->numbers);
    dh_pool_free(r->index, r->cap_index * sizeof(*r->index));
    dh_mem_done(&r->mem);
}
