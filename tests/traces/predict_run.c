/*
 * predict_run.c - see predict_run.h.
 */
#include "traces/predict_run.h"

#include <stdlib.h>
#include <string.h>

#include "detect/confirm.h"
#include "detect/syncp.h"
#include "traces/predict_oracle.h"

static void put(struct kit_trace *t, u8 op, u32 thread, u32 target)
{
    kit_add(t, (struct dh_event){.op = op, .thread = thread, .target = target, .site = t->n + 1});
}

void predict_dense_trace(struct kit_trace *t, u64 seed, u32 events, u32 threads, u32 locks, u32 cells)
{
    u32 held[8][2], depth[8] = {0}, owner[32] = {0};
    u64 x = seed << 32;
    if (threads > 8 || locks > 32)
        abort();
    for (u32 u = 1; u < threads; u++)
        put(t, DH_OP_FORK, 0, u);
    while (t->n < events) {
        u64 r = dh_hash64(x += 0x9E3779B97F4A7C15ull);
        u32 u = (u32)(r % threads), lock = (u32)(r >> 8) % locks, what = (u32)(r >> 40) % 8;
        if (what < 2 && depth[u]) {
            lock = held[u][--depth[u]];
            owner[lock] = 0;
            put(t, DH_OP_RELEASE, u, lock);
        } else if (what < 4 && depth[u] < 2 && !owner[lock]) {
            held[u][depth[u]++] = lock;
            owner[lock] = u + 1;
            put(t, DH_OP_ACQUIRE, u, lock);
        } else if (what >= 4 && (depth[u] || (r >> 50) % 4 == 0)) {
            put(t, what % 2 ? DH_OP_WRITE : DH_OP_READ, u, (u32)(r >> 16) % cells);
        }
    }
}

struct listener {
    struct predict_said *said;
    const struct kit_trace *t;
};

static void on_race(void *ctx, u32 index, const struct dh_race *race)
{
    struct listener *l = ctx;
    struct predict_said *s = l->said;
    u64 i = race->earlier.event, j = race->now.event;
    (void)index;
    if (i >= j || j >= l->t->n || !predict_conflict(l->t, (u32)i, (u32)j) ||
        race->cell != l->t->events[j].target || race->now.site != l->t->events[j].site ||
        race->earlier.site != l->t->events[i].site) {
        s->error = -1;
        return;
    }
    u64 written = race->witness_len - race->witness_start;
    if (race->witness && (written < 2 || written > race->witness_len || race->witness[written - 1] != j ||
                          race->witness[written - 2] != i))
        s->error = -1;
    if (s->n == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 16;
        s->reports = realloc(s->reports, s->cap * sizeof(*s->reports));
        if (!s->reports)
            abort();
    }
    s->reports[s->n++] = (struct predict_report){.earlier = (u32)i, .now = (u32)j, .witness = race->witness};
    s->n_racy += !s->racy[j];
    s->racy[j] = 1;
    s->with[j] |= 1ull << race->earlier.thread % 64;
}

struct predict_said predict_run(const struct kit_trace *t, const char *detector, u64 window)
{
    struct predict_said said = {.racy = kit_alloc(t->n), .with = kit_alloc(t->n * sizeof(u64))};
    struct listener l = {.said = &said, .t = t};
    struct dh_host_result r;
    struct dh_event *events = kit_alloc(t->n * sizeof(*events));
    const struct dh_detector_ops *ops = dh_detector_find(detector, strlen(detector));
    struct dh_host *h = dh_host_new(on_race, &l);
    if (t->n)
        memcpy(events, t->events, t->n * sizeof(*events));
    if (!h || !ops)
        abort();
    dh_host_window(h, window);
    if (dh_host_add(h, ops) != 0 || dh_host_feed(h, events, t->n) != 0)
        abort();
    dh_host_finish(h);
    dh_host_result(h, 0, &r);
    if (r.error || r.racy_events != said.n_racy)
        said.error = -1;
    dh_host_free(h);
    free(events);
    return said;
}

void predict_said_done(struct predict_said *s)
{
    free(s->reports);
    free(s->racy);
    free(s->with);
}

struct predict_asker {
    struct dh_trace trace;
    struct dh_confirm confirm;
};

struct predict_asker *predict_asker_new(const struct kit_trace *t)
{
    struct predict_asker *a = kit_alloc(sizeof(*a));
    a->trace = (struct dh_trace){
        .events = t->events, .n = t->n, .threads = t->threads, .locks = t->locks, .cells = t->cells};
    if (dh_confirm_init(&a->confirm, &a->trace) != 0)
        abort();
    return a;
}

void predict_asker_free(struct predict_asker *a)
{
    dh_confirm_done(&a->confirm);
    free(a);
}

bool predict_asker_syncp(struct predict_asker *a, u32 i, u32 j)
{
    struct dh_confirm *c = &a->confirm;
    memset(c->cut, 0, a->trace.threads * sizeof(*c->cut));
    dh_predict_absorb(&c->p, c->cut, i, false);
    dh_predict_absorb(&c->p, c->cut, j, false);
    if (!dh_syncp_close(&c->p, c->cut, i))
        return false;
    if (!dh_witness_make(&c->witness, c->cut, NULL, DH_NONE, 0, i, j))
        abort();
    return true;
}

bool predict_asker_osr(struct predict_asker *a, u32 i, u32 j)
{
    struct dh_confirm *c = &a->confirm;
    if (dh_osr_pair(&c->order, c->cut, i, j) != DH_OSR_RACE)
        return false;
    if (dh_confirm_pair(c, i, j) != DH_OSR_RACE)
        abort();
    return true;
}

bool predict_asker_same(const struct predict_asker *a, u32 i, u32 j)
{
    return a->confirm.p.object[i] == a->confirm.p.object[j];
}

bool predict_asker_check(struct predict_asker *a, const u32 *sequence, u64 n)
{
    return dh_witness_check(&a->confirm.witness, 0, sequence, n);
}
