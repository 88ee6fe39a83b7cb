/*
 * analyze_hint.c - what else the trace says about the races to be listed: how accesses at their places are
 * usually locked and ordered, and which thread was created last (detect/habit.h). The trace is read again;
 * one that cannot be read twice yields no hints.
 */
#include <stdlib.h>

#include "cli/analyze.h"
#include "cli/trace_model.h"
#include "util/arena.h"

/* The lock has a name in text, and in a recording if symbols are looked up in the program's files. */
static bool is_asked(const struct dh_analyze *a, const struct dh_analyze_race *r)
{
    return r->race.earlier.thread != DH_UNKNOWN && (r->model || !dh_trace_in_has_code(&a->in));
}

static int by_event(const void *a, const void *b)
{
    const struct dh_analyze_race *const *x = a, *const *y = b;
    return ((*x)->race.now.event > (*y)->race.now.event) - ((*x)->race.now.event < (*y)->race.now.event);
}

/* Those to ask about, in the order of the trace. */
static struct dh_analyze_race **sorted(struct dh_analyze *a, u32 *ret_n)
{
    size_t n = 0;
    for (u32 i = 0; i < a->n; i++)
        n += dh_analyze_told(a, i);
    struct dh_analyze_race **races = dh_util_alloc(n * sizeof(*races) + 1);
    n = 0;
    for (u32 i = 0; i < a->n; i++)
        for (size_t k = 0; k < dh_analyze_told(a, i); k++)
            if (is_asked(a, &a->found[i].races[k]) && n < UINT32_MAX)
                races[n++] = &a->found[i].races[k];
    qsort(races, n, sizeof(*races), by_event);
    *ret_n = (u32)n;
    return races;
}

static void read_again(const struct dh_analyze *a, struct dh_habit *habits, u32 n)
{
    static struct dh_trace_in again;
    static struct dh_event batch[DH_HOST_BATCH];
    struct dh_host *h = dh_host_new(NULL, NULL);
    if (!h || !dh_analyze_open_again(&again, a)) {
        dh_host_free(h);
        return;
    }
    dh_host_limit(h, a->memory < SIZE_MAX >> 20 ? a->memory << 20 : 0);
    struct dh_host_result result = {0};
    long got = 1;
    int rc = dh_habit_add(h, habits, n);
    while (!rc && (got = dh_trace_in_read(&again, batch, DH_ARRAY_LEN(batch))) > 0)
        rc = dh_host_feed(h, batch, (size_t)got);
    if (!rc)
        dh_host_result(h, 0, &result);
    if (!rc && got == 0 && !result.error)
        dh_habit_answer(habits, n);
    dh_trace_in_quiet(&again);
    dh_trace_in_close(&again);
    dh_host_free(h);
}

/* Are there enough accesses without a race, before the newest thread existed? */
static bool is_crowd(const struct dh_habit *h)
{
    enum { ENOUGH = 4 }; /* as in report/hint.c */
    return h->newest != DH_UNKNOWN && h->before >= ENOUGH;
}

/* As in a race record. */
static void tell(struct dh_analyze *a, const struct dh_analyze_race *r, struct dh_model_race *m)
{
    const struct dh_habit *h = r->habit;
    struct dh_model_discipline *d = &m->discipline;
    struct dh_dht_place call;
    d->accesses = h->accesses;
    d->held = h->held;
    d->lock.addr = dh_dht_lock(a->in.dht, h->lock);
    dh_trace_model_place(&a->in, a->in.dht, d->lock.addr, &d->lock.module, &d->lock.offset);
    if (dh_dht_place(a->in.dht, h->taken_at, &call)) {
        d->held_from = h->held_from;
        dh_trace_model_place(&a->in, a->in.dht, call.pc, &d->taken_at.module, &d->taken_at.offset);
    }
    d->observations = h->observations;
    d->ordered = h->ordered;
    d->order.addr = dh_dht_lock(a->in.dht, h->order);
    dh_trace_model_place(&a->in, a->in.dht, d->order.addr, &d->order.module, &d->order.offset);
    if (!is_crowd(h))
        return;
    m->newest_thread = h->newest == r->race.now.thread       ? m->accesses[0].thread
                       : h->newest == r->race.earlier.thread ? m->accesses[1].thread
                                                             : 0;
}

void dh_analyze_hint(struct dh_analyze *a)
{
    u32 n;
    struct dh_analyze_race **races = sorted(a, &n);
    a->habits = dh_util_alloc(n * sizeof(*a->habits) + 1);
    for (u32 i = 0; i < n; i++) {
        const struct dh_race *r = &races[i]->race;
        a->habits[i] = (struct dh_habit){
            .event = r->now.event, .sites = {r->now.site, r->earlier.site}, .earlier = r->earlier.thread};
        races[i]->habit = &a->habits[i];
    }
    if (n)
        read_again(a, a->habits, n);
    for (u32 i = 0; i < n; i++)
        if (races[i]->model && races[i]->habit->accesses)
            tell(a, races[i], races[i]->model);
    free(races);
}

void dh_analyze_hint_names(struct dh_analyze *a, struct dh_arena *arena, const struct dh_analyze_race *r,
                           struct dh_finding *f)
{
    const struct dh_habit *h = r->habit;
    struct dh_finding_discipline *d = &f->discipline;
    if (!h)
        return;
    d->accesses = h->accesses;
    d->held = h->held;
    d->lock = h->held ? dh_arena_strdup(arena, dh_trace_in_lock(&a->in, h->lock)) : NULL;
    d->observations = h->observations;
    d->ordered = h->ordered;
    d->order = h->ordered ? dh_arena_strdup(arena, dh_trace_in_lock(&a->in, h->order)) : NULL;
    f->newest_thread = h->accesses && is_crowd(h) ? (u64)h->newest + 1 : 0;
    const u32 threads[] = {r->race.now.thread, r->race.earlier.thread};
    for (int i = 0; i < 2; i++) {
        d->lacks[i] = h->lacks[i];
        f->accesses[i].newest_thread = f->newest_thread && threads[i] == h->newest;
    }
}
