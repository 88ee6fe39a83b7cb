/*
 * analyze_timeline.c - what the two threads of a race did around it, for the HTML page: the trace is read
 * again, and for each race some events of either thread before and after both accesses are kept.
 *
 * Only synchronisation and the accesses themselves are shown: a thread makes thousands of other accesses in
 * between, and what matters is what ordered the two threads, and what did not.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze.h"
#include "cli/trace_model.h"
#include "util/text.h"

enum { BEFORE = 4, AFTER = 2, MOST_RACES = 500 };

/* The last events of a thread that are worth showing. */
struct recent {
    u64 number[BEFORE];
    struct dh_event event[BEFORE];
    size_t n; /* in all; the last BEFORE are kept, in a ring */
};

struct watched {
    struct dh_analyze_race *race;
    u32 threads[2];
    u64 at[2]; /* events of the accesses; many detectors do not remember the earlier one: then it is the last
                  ... */
    bool guessed; /* ... of its thread, at its place and on its variable */
    int after[2]; /* how many more of each thread are wanted */
};

struct timeline {
    struct dh_analyze *a;
    struct dh_trace_in again;
    struct recent *threads;
    size_t n_threads;
    struct watched *all;
    size_t n;
};

static const char *word_of(const struct dh_event *e)
{
    static const char *const words[DH_OP_COUNT] = {
        [DH_OP_READ] = "read",
        [DH_OP_WRITE] = "write",
        [DH_OP_ACQUIRE] = "acquire",
        [DH_OP_RELEASE] = "release",
        [DH_OP_FORK] = "create",
        [DH_OP_JOIN] = "join",
        [DH_OP_BEGIN] = "begin",
        [DH_OP_END] = "end",
        [DH_OP_VOLATILE] = "volatile",
        [DH_OP_ATOMIC_LOAD] = "atomic load of",
        [DH_OP_ATOMIC_STORE] = "atomic store to",
        [DH_OP_ATOMIC_RMW] = "atomic update of",
        [DH_OP_FENCE] = "fence",
        [DH_OP_BARRIER_ENTER] = "enter barrier",
        [DH_OP_BARRIER_LEAVE] = "leave barrier",
        [DH_OP_NOTIFY] = "notify",
        [DH_OP_WAIT] = "wait for",
    };
    return words[e->op] ? words[e->op] : "?";
}

/* As in reports: for a lock in a recording, the variable that it is, if there is one. */
static const char *name_of(struct timeline *t, const struct dh_event *e, u64 lock)
{
    struct dh_arena *arena = &t->a->arena;
    const struct dh_model_module *module;
    struct dh_symbol_variable variable;
    u64 offset;
    if (lock && t->a->symbols) {
        dh_trace_model_place(&t->a->in, t->a->in.dht, lock, &module, &offset);
        if (dh_symbol_find_variable(t->a->symbols, module, offset, 0, &variable))
            return dh_text_shown(arena, dh_finding_lock_name(arena, variable.shown));
    }
    return dh_text_shown(arena, dh_trace_in_target(&t->again, e));
}

/* Once, in the order of the trace. */
static void add(struct timeline *t, struct watched *w, int side, u64 number, const struct dh_event *e)
{
    struct dh_analyze_race *r = w->race;
    size_t at = r->n_moments;
    while (at > 0 && r->moments[at - 1].event > number + 1)
        at--;
    if ((at > 0 && r->moments[at - 1].event == number + 1) || r->n_moments == DH_ANALYZE_MOMENTS)
        return;
    memmove(&r->moments[at + 1], &r->moments[at], (r->n_moments - at) * sizeof(*r->moments));
    bool is_lock = t->again.dht && dh_event_space(e->op) == DH_SPACE_LOCK;
    u64 lock = is_lock ? dh_dht_lock(t->again.dht, e->target) : 0;
    r->moments[at] = (struct dh_finding_moment){.event = number + 1,
                                                .side = side,
                                                .access = number == w->at[0] || number == w->at[1],
                                                .lock = lock,
                                                .did = word_of(e),
                                                .what = dh_arena_strdup(&t->a->arena, name_of(t, e, lock))};
    r->n_moments++;
}

static void add_recent(struct timeline *t, struct watched *w)
{
    for (int side = 0; side < 2; side++) {
        const struct recent *r = w->threads[side] < t->n_threads ? &t->threads[w->threads[side]] : NULL;
        for (size_t i = 0; r && i < BEFORE && i < r->n; i++)
            add(t, w, side, r->number[i], &r->event[i]);
    }
}

static struct recent *recent_of(struct timeline *t, u32 thread)
{
    if (thread >= t->n_threads) {
        size_t n = (size_t)thread + 16;
        t->threads = dh_util_realloc(t->threads, n * sizeof(*t->threads));
        memset(t->threads + t->n_threads, 0, (n - t->n_threads) * sizeof(*t->threads));
        t->n_threads = n;
    }
    return &t->threads[thread];
}

static bool is_earlier(const struct dh_race *r, const struct dh_event *e)
{
    return dh_event_is_access(e) && e->thread == r->earlier.thread && e->site == r->earlier.site &&
           e->target <= r->cell && r->cell - e->target < (e->size ? e->size : 1);
}

static void take(struct timeline *t, u64 number, const struct dh_event *e)
{
    bool order = e->op != DH_OP_SKIP && e->op <= DH_OP_WAIT && !dh_event_is_access(e);
    for (size_t i = 0; i < t->n; i++) {
        struct watched *w = &t->all[i];
        int side = e->thread == w->threads[0] ? 0 : e->thread == w->threads[1] ? 1 : -1;
        if (w->guessed && number < w->at[0] && is_earlier(&w->race->race, e)) {
            w->race->n_moments = 0;
            w->at[1] = number;
        }
        if (number == w->at[0] || number == w->at[1]) {
            add_recent(t, w);
            add(t, w, number == w->at[0] ? 0 : 1, number, e);
            w->after[0] = w->after[1] = AFTER;
        } else if (side >= 0 && order && w->after[side] > 0) {
            w->after[side]--;
            add(t, w, side, number, e);
        }
    }
    if (!order)
        return;
    struct recent *r = recent_of(t, e->thread);
    r->number[r->n % BEFORE] = number;
    r->event[r->n % BEFORE] = *e;
    r->n++;
}

static size_t watch(struct timeline *t, struct dh_analyze *a)
{
    t->all = dh_util_alloc(MOST_RACES * sizeof(*t->all));
    for (u32 i = 0; i < a->n; i++)
        for (size_t k = 0; k < dh_analyze_listed(a, i) && t->n < MOST_RACES; k++) {
            struct dh_analyze_race *r = &a->found[i].races[k];
            const struct dh_race_access *now = &r->race.now, *earlier = &r->race.earlier;
            if (earlier->thread == DH_UNKNOWN || now->event == DH_NO_EVENT)
                continue;
            r->moments = dh_arena_array(&a->arena, DH_ANALYZE_MOMENTS, sizeof(*r->moments));
            t->all[t->n++] = (struct watched){.race = r,
                                              .threads = {now->thread, earlier->thread},
                                              .at = {now->event, earlier->event},
                                              .guessed = earlier->event == DH_NO_EVENT};
        }
    return t->n;
}

void dh_analyze_timeline(struct dh_analyze *a)
{
    static struct timeline t;
    static struct dh_event batch[DH_HOST_BATCH];
    t = (struct timeline){.a = a};
    if (a->format == DH_PRINT_HTML && watch(&t, a) && dh_analyze_open_again(&t.again, a)) {
        u64 number = 0;
        for (long n; (n = dh_trace_in_read(&t.again, batch, DH_ARRAY_LEN(batch))) > 0;)
            for (long i = 0; i < n; i++)
                take(&t, number++, &batch[i]);
        dh_trace_in_quiet(&t.again);
        dh_trace_in_close(&t.again);
    }
    free(t.threads);
    free(t.all);
}
