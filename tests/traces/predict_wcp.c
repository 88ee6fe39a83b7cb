/*
 * predict_wcp.c - see predict_wcp.h. Clocks are numbers of events in a thread.
 */
#include "traces/predict_wcp.h"

#include <stdlib.h>
#include <string.h>

#include "traces/predict_oracle.h"

struct section {
    u32 lock, thread;
    u32 acq, rel; /* events; rel == trace length while open */
    u32 *h;       /* at the release */
};

struct wcp {
    const struct kit_trace *t;
    u32 *local;             /* of each event */
    u32 **h, **p;           /* of each thread */
    u32 **lock_h, **lock_p; /* of each lock, at its last release */
    struct section *sections;
    u32 n_sections;
};

static u32 **rows(u32 n, u32 width)
{
    u32 **all = kit_alloc(n * sizeof(*all));
    for (u32 i = 0; i < n; i++)
        all[i] = kit_alloc(width * sizeof(u32));
    return all;
}

static void free_rows(u32 **all, u32 n)
{
    for (u32 i = 0; i < n; i++)
        free(all[i]);
    free(all);
}

static void join(const struct wcp *w, u32 *dst, const u32 *src)
{
    for (u32 i = 0; i < w->t->threads; i++)
        dst[i] = dst[i] > src[i] ? dst[i] : src[i];
}

static void copy(const struct wcp *w, u32 *dst, const u32 *src)
{
    memcpy(dst, src, w->t->threads * sizeof(*dst));
}

static bool conflicts_within(const struct wcp *w, const struct section *s, u32 e)
{
    for (u32 i = s->acq; i < s->rel; i++) {
        if (w->t->events[i].thread == s->thread && predict_conflict(w->t, i, e))
            return true;
    }
    return false;
}

/* Rule (a). */
static void access(struct wcp *w, u32 e)
{
    u32 t = w->t->events[e].thread;
    for (u32 i = 0; i < w->n_sections; i++) {
        const struct section *mine = &w->sections[i];
        if (mine->thread != t || mine->rel != w->t->n)
            continue;
        for (u32 k = 0; k < i; k++) {
            const struct section *s = &w->sections[k];
            if (s->lock == mine->lock && s->thread != t && conflicts_within(w, s, e))
                join(w, w->p[t], s->h);
        }
    }
}

static void release(struct wcp *w, u32 e)
{
    u32 t = w->t->events[e].thread, lock = w->t->events[e].target;
    struct section *mine = NULL;
    for (u32 i = 0; i < w->n_sections; i++) {
        struct section *s = &w->sections[i];
        if (s->lock != lock)
            continue;
        if (s->rel == w->t->n)
            mine = s;
        else if (s->thread != t && w->local[s->acq] < w->p[t][s->thread])
            join(w, w->p[t], s->h); /* rule (b) */
    }
    if (!mine)
        abort();
    mine->rel = e;
    mine->h = kit_alloc(w->t->threads * sizeof(u32));
    copy(w, mine->h, w->h[t]);
    copy(w, w->lock_h[lock], w->h[t]);
    copy(w, w->lock_p[lock], w->p[t]);
}

static void step(struct wcp *w, u32 i)
{
    const struct dh_event *e = &w->t->events[i];
    u32 t = e->thread;
    switch (e->op) {
    case DH_OP_ACQUIRE:
        join(w, w->h[t], w->lock_h[e->target]);
        join(w, w->p[t], w->lock_p[e->target]);
        w->sections[w->n_sections++] =
            (struct section){.lock = e->target, .thread = t, .acq = i, .rel = w->t->n};
        break;
    case DH_OP_JOIN:
        join(w, w->h[t], w->h[e->target]);
        join(w, w->p[t], w->h[e->target]);
        break;
    case DH_OP_READ:
    case DH_OP_WRITE:
        access(w, i);
        break;
    default:
        break;
    }
    w->h[t][t] = w->local[i] + 1;
    if (e->op == DH_OP_RELEASE)
        release(w, i);
    if (e->op == DH_OP_FORK) {
        join(w, w->h[e->target], w->h[t]);
        join(w, w->p[e->target], w->h[t]);
    }
}

u64 predict_wcp(const struct kit_trace *t, u64 *with)
{
    u32 *done = kit_alloc(t->threads * sizeof(u32));
    struct wcp w = {.t = t, .local = kit_alloc(t->n * sizeof(u32))};
    u64 pairs = 0;
    w.h = rows(t->threads, t->threads);
    w.p = rows(t->threads, t->threads);
    w.lock_h = rows(t->locks, t->threads);
    w.lock_p = rows(t->locks, t->threads);
    w.sections = kit_alloc(t->n * sizeof(*w.sections));
    for (u32 i = 0; i < t->n; i++) {
        u32 th = t->events[i].thread;
        w.local[i] = done[th]++;
        step(&w, i);
        for (u32 k = 0; k < i && dh_event_is_access(&t->events[i]); k++) {
            if (predict_conflict(t, k, i) && w.local[k] >= w.p[th][t->events[k].thread]) {
                with[i] |= 1ull << t->events[k].thread % 64;
                pairs++;
            }
        }
    }
    for (u32 i = 0; i < w.n_sections; i++)
        free(w.sections[i].h);
    free_rows(w.h, t->threads);
    free_rows(w.p, t->threads);
    free_rows(w.lock_h, t->locks);
    free_rows(w.lock_p, t->locks);
    free(w.sections);
    free(w.local);
    free(done);
    return pairs;
}
