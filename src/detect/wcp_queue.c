/*
 * wcp_queue.c - see wcp.h.
 *
 * The releases of one lock are ordered by happens-before, and what precedes a release weakly precedes all
 * that it precedes. So if a section begins before some event, all earlier ones of the lock do, and the last
 * of them has published the most: one position per thread and one join per release are enough, where the
 * paper has a queue per thread.
 */
#include <string.h>

#include "detect/wcp.h"

enum { TIDY_FROM = 16 };

static struct dh_wcp_queued queued(struct dh_wcp_section *s)
{
    return (struct dh_wcp_queued){.section = s, .thread = s->thread, .acq = s->acq, .rel = s->rel};
}

/* The position of tid, created on first use. NULL: no memory. */
static u64 *position(struct dh_detector *d, struct dh_wcp_queue *q, u32 tid)
{
    u64 *at = dh_by_thread_at(d, &q->at, tid, sizeof(*at));
    if (at && *at < q->base)
        *at = q->base;
    return at;
}

/* Is there such a section, of another thread than tid, and does it begin before p? */
static bool begins_before(const struct dh_wcp_queue *q, u64 at, u32 tid, const struct dh_vc *p)
{
    const struct dh_wcp_queued *s = at < q->base + q->n ? &q->items[at - q->base] : NULL;
    return s && s->thread != tid && dh_vc_get(p, s->thread) >= s->acq;
}

/* The first section from `at` on that does not begin before p; *ret_last: the last one that does. Sections of
 * tid itself are skipped. If one begins before p, all earlier ones do, so the search goes in leaps: a thread
 * that is new to the lock has all sections ahead of it. */
static u64 advance(const struct dh_wcp_queue *q, u64 at, u32 tid, const struct dh_vc *p, u64 *ret_last)
{
    *ret_last = UINT64_MAX;
    for (; at < q->base + q->n; at++) {
        u64 leap = 1;
        if (q->items[at - q->base].thread == tid)
            continue;
        if (!begins_before(q, at, tid, p))
            break;
        for (; begins_before(q, at + leap, tid, p); leap *= 2)
            at += leap;
        for (; leap; leap /= 2)
            at += begins_before(q, at + leap, tid, p) ? leap : 0;
        *ret_last = at;
    }
    return at;
}

const struct dh_wcp_queued *dh_wcp_queue_order(struct dh_detector *d, struct dh_wcp_queue *q, u32 tid,
                                               const struct dh_vc *p)
{
    u64 *at = position(d, q, tid), last;
    if (!at)
        return NULL;
    *at = advance(q, *at, tid, p, &last);
    return last == UINT64_MAX ? NULL : &q->items[last - q->base];
}

void dh_wcp_queue_push(struct dh_detector *d, struct dh_wcp_queue *q, struct dh_wcp_section *s)
{
    if (q->n == q->cap && !dh_mem_grow(&d->mem, (void **)&q->items, q->n, &q->cap, sizeof(*q->items))) {
        d->failed = true;
        return;
    }
    q->items[q->n++] = queued(s);
}

static void drop_first(struct dh_detector *d, struct dh_wcp_queue *q, u32 n)
{
    for (u32 i = 0; i < n; i++)
        dh_wcp_section_unref(d, q->items[i].section);
    q->n -= n;
    memmove(q->items, q->items + n, q->n * sizeof(*q->items));
    q->base += n;
}

/* The older half becomes a quarter: of two neighbours one is left, which begins like the first and published
 * what the second did. That orders more than the definition. */
static void thin(struct dh_detector *d, struct dh_wcp_queue *q)
{
    u32 pairs = q->n / 4;
    for (u32 i = 0; i < pairs; i++) {
        struct dh_wcp_section *a = q->items[2 * i].section, *b = q->items[2 * i + 1].section;
        struct dh_wcp_section *s = dh_wcp_section_new(d, a->thread, a->acq);
        if (!s || !dh_vc_copy(d, &s->h, &b->h))
            return;
        s->rel = UINT32_MAX; /* of another thread's section: never taken as known */
        dh_wcp_section_unref(d, a);
        dh_wcp_section_unref(d, b);
        q->items[i] = queued(s);
    }
    memmove(q->items + pairs, q->items + 2 * pairs, (q->n - 2 * pairs) * sizeof(*q->items));
    q->n -= pairs;
    struct dh_by_thread_run run;
    for (u32 i = 0; dh_by_thread_run(&q->at, i, &run); i++) {
        u64 *at = run.items;
        for (u32 t = 0; t < run.n; t++) {
            u64 offset = at[t] < q->base ? 0 : at[t] - q->base;
            at[t] = q->base + (offset < 2 * (u64)pairs ? offset / 2 : offset - pairs);
        }
    }
}

/* Drops those at the beginning that all threads are ordered after. */
static void drop_known(struct dh_detector *d, struct dh_wcp_queue *q, const u32 *known, u32 n_known)
{
    u32 n = 0;
    while (n < q->n && q->items[n].thread < n_known && q->items[n].rel <= known[q->items[n].thread])
        n++;
    drop_first(d, q, n);
}

/* Drops those at the beginning that every thread is past; asks them all. */
static void drop_passed(struct dh_detector *d, struct dh_wcp_queue *q, dh_wcp_knows_fn *knows)
{
    bool full = q->n >= DH_WCP_QUEUE_MAX;
    u64 needed = q->base + q->n;
    u32 first = q->slowest;
    for (u32 i = 0; i < d->n_threads && (needed > q->base || full); i++) {
        u32 t = (first + i) % d->n_threads;
        const struct dh_vc *p = knows(d, t);
        if (!p)
            continue;
        u64 *at = position(d, q, t);
        if (!at)
            return;
        /* Of those it will be ordered after at its next release the last is enough. */
        u64 last, next = advance(q, *at, t, p, &last);
        *at = last == UINT64_MAX ? next : last;
        if (*at < needed) {
            needed = *at;
            q->slowest = t;
        }
    }
    drop_first(d, q, (u32)(needed - q->base));
}

void dh_wcp_queue_tidy(struct dh_detector *d, struct dh_wcp_queue *q, dh_wcp_knows_fn *knows,
                       const u32 *known, u32 n_known)
{
    u32 least = d->n_threads / 64 < TIDY_FROM ? TIDY_FROM : d->n_threads / 64;
    if (q->n < q->tidy_at || q->n < least)
        return;
    drop_known(d, q, known, n_known);
    if (q->n < q->tidy_at || q->n < least)
        return;
    drop_passed(d, q, knows);
    if (q->n >= DH_WCP_QUEUE_MAX)
        thin(d, q);
    q->tidy_at = q->n * 2;
    if (q->tidy_at > DH_WCP_QUEUE_MAX)
        q->tidy_at = DH_WCP_QUEUE_MAX;
}
