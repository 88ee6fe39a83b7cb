/*
 * pipeline_stages.c - the stages that run the program: Caper until its sets no longer change; then, on the
 * remaining pairs, inference, chasing with increasing waits, and steering in both orders.
 *
 * A stage ends when a given part of the budget is used up, and leaves what it does not need to the next. The
 * work after the last stage, the page, takes about as long as reading and writing the sets before the first
 * chase did; one and a half times that is reserved for it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/chase.h"
#include "cli/cmd.h"
#include "cli/pipeline.h"
#include "util/output.h"

/* When each stage has to end, in percent of the budget. */
enum { CAPER_END = 30, INFER_END = 70, CHASE_END = 80, FOLLOW_UP_END = 88, PRIMARY_END = 94, ALL = 100 };

static u64 deadline(const struct dh_pipeline *p, u64 percent)
{
    u64 all = p->budget_us > p->page_us ? p->budget_us - p->page_us : 0;
    return p->start_us + all / 100 * percent;
}

/* ---- Caper ---- */

static bool was_interrupted(int status)
{
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return number == SIGINT || number == SIGTERM || number == SIGHUP;
}

static void say_run(const struct dh_cli_caper *c)
{
    fprintf(stderr,
            "deadheat pipeline: caper: run %" PRIu64 ": %" PRIu64 " new site%s, %" PRIu64
            " pair%s in dpPairs, %" PRIu64 " left in spPairs\n",
            dh_caper_state_runs(&c->state), c->new_sites, c->new_sites == 1 ? "" : "s", c->count.dp,
            c->count.dp == 1 ? "" : "s", c->count.sp);
}

static int one_run(struct dh_pipeline *p, struct dh_cli_caper *c)
{
    c->broken_off = false;
    int rc = dh_cli_caper_begin(c);
    if (rc)
        return rc;
    int status = dh_cli_caper_run(c, p->argv);
    if (status < 0)
        return -status;
    rc = dh_cli_caper_end(c, status);
    if (rc)
        return rc;
    p->took[DH_PIPELINE_CAPER].runs++;
    p->stop = !c->broken_off && was_interrupted(status);
    say_run(c);
    return 0;
}

/* How many pairs are written: more than there is time to chase one by one would be useless, and writing and
 * reading a million takes minutes. */
static u64 most_pairs(const struct dh_pipeline *p)
{
    enum { LEAST = 1000, MOST = 10000, EACH_US = 50000 /* no run is shorter */ };
    u64 n = p->budget_us / EACH_US;
    return n < LEAST ? LEAST : n > MOST ? MOST : n;
}

/* A pair of sites is listed once in a table without bundles: two bundles may have contained it. */
static void drop_repeated(struct dh_pairs *t)
{
    struct dh_arena arena = {0};
    struct dh_map seen;
    size_t n = 0;
    dh_map_init(&seen, &arena);
    for (size_t i = 0; i < t->n_pairs; i++) {
        u32 a = t->pairs[i].side[0].site, b = t->pairs[i].side[1].site;
        const u32 key[] = {a < b ? a : b, a < b ? b : a};
        if (dh_map_get(&seen, key, sizeof(key)))
            continue;
        dh_map_put(&seen, key, sizeof(key), t);
        t->pairs[n++] = t->pairs[i];
    }
    t->n_pairs = n;
    dh_map_done(&seen);
    dh_arena_done(&arena);
}

/* dpPairs, for chasing. */
static int export(struct dh_pipeline *p, struct dh_cli_caper *c)
{
    struct dh_output to = {0};
    const char *path = dh_pipeline_file(p, "pairs.json");
    int rc = dh_cli_caper_look(c, c->state_name, p->program);
    if (rc)
        return rc;
    p->took[DH_PIPELINE_STATIC] = (struct dh_pipeline_took){.pairs = c->count.sp + c->count.dp};
    for (size_t i = 0; i < c->build.table->n_phases; i++) /* when the program was linked */
        p->took[DH_PIPELINE_STATIC].us += c->build.table->phases[i].microseconds;
    p->took[DH_PIPELINE_CAPER].in = c->count.sp + c->count.dp;
    p->took[DH_PIPELINE_CAPER].pairs = c->count.dp;
    for (u32 i = 0; i < c->build.table->n_sites; i++)
        if (dh_caper_sets_is_dynamic(&c->sets, i))
            dh_chase_add_line(&p->arena, &p->lines, &c->build.table->sites[i].at);
    if (dh_output_open(&to, &p->arena, path) != 0)
        return dh_cli_fail("pipeline", "cannot write '%s': %s", path, to.why);
    dh_caper_choose(c->build.table, &c->sets, DH_CAPER_DP, &c->count);
    dh_caper_expand(c->build.table, most_pairs(p));
    drop_repeated(c->build.table);
    p->unlisted = c->count.dp - c->build.table->n_pairs;
    if (p->unlisted)
        fprintf(stderr,
                "deadheat pipeline: %" PRIu64
                " pairs of large bundles are not chased one by one, unless their accesses meet\n",
                p->unlisted);
    dh_cli_caper_list(c, to.stream, DH_PRINT_JSON, 0, DH_CLI_CAPER_THREADS, false, "dpPairs");
    if (dh_output_commit(&to) != 0)
        return dh_cli_fail("pipeline", "cannot write '%s': %s", path, to.why);
    return 0;
}

int dh_pipeline_caper(struct dh_pipeline *p)
{
    enum { GRACE_US = 3000000, GRACE_PART = 20 };
    struct dh_cli_caper c = {.command = "pipeline",
                             .run.fd = -1,
                             .deadline_us = deadline(p, CAPER_END),
                             .grace_us = p->budget_us / GRACE_PART};
    c.grace_us = c.grace_us < GRACE_US ? c.grace_us : GRACE_US;
    u64 begin = dh_pipeline_now();
    const char *state = dh_pipeline_file(p, "caper");
    int rc = dh_cli_caper_open(&c, state, p->program);
    if (!rc)
        rc = dh_cli_caper_load(&c);
    /* At least one run, whatever the budget is. */
    while (!rc && !p->stop && dh_caper_state_steady(&c.state) < p->steady &&
           (!c.state.n_merged || dh_pipeline_now() < c.deadline_us))
        rc = one_run(p, &c);
    dh_cli_caper_close(&c);
    p->took[DH_PIPELINE_CAPER].us += dh_pipeline_now() - begin;
    c = (struct dh_cli_caper){.command = "pipeline", .run.fd = -1, .state_name = state};
    begin = dh_pipeline_now();
    if (!rc)
        rc = export(p, &c);
    dh_cli_caper_close(&c);
    p->page_us = (dh_pipeline_now() - begin) * 3 / 2;
    return rc;
}

/* ---- Chasing ---- */

enum { INFER_STEADY = 3 /* runs without a new meeting */, LONGEST_US = 400000 /* waits of inference */ };

static struct dh_pipeline_pair *pair_of(struct dh_pipeline *p, const char *name)
{
    size_t *index = dh_map_get(&p->by_name, name, strlen(name));
    if (!index) {
        index = dh_arena_alloc(&p->arena, sizeof(*index));
        *index = p->n_pairs;
        dh_map_put(&p->by_name, name, strlen(name), index);
        p->pairs = dh_util_grow(p->pairs, p->n_pairs, &p->cap_pairs, sizeof(*p->pairs));
        p->pairs[p->n_pairs++] = (struct dh_pipeline_pair){.name = dh_arena_strdup(&p->arena, name)};
    }
    return &p->pairs[*index];
}

static u64 greater(u64 a, u64 b)
{
    return a > b ? a : b;
}

static const char other_way[] = "this way is not for it";

/* What is now known about the candidates. Counts of one way to chase continue from its state, so the greatest
 * are the last. */
static void take_results(struct dh_pipeline *p, const struct dh_chase_candidates *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct dh_chase_candidate *at = &c->at[i];
        struct dh_pipeline_pair *pair = pair_of(p, at->name);
        pair->confirmed |= at->confirmed > 0;
        pair->runs = greater(pair->runs, at->runs[0] + at->runs[1]);
        pair->reached = greater(pair->reached, at->reached);
        pair->timeouts = greater(pair->timeouts, at->timeouts);
        pair->met = greater(pair->met, at->met);
        if (at->refused && at->refused != other_way)
            pair->refused = dh_arena_strdup(&p->arena, at->refused);
    }
}

static u64 confirmed(const struct dh_pipeline *p)
{
    u64 n = 0;
    for (size_t i = 0; i < p->n_pairs; i++)
        n += p->pairs[i].confirmed;
    return n;
}

/* Those that a stage of this command, or of an earlier one, has been credited with. What earlier commands
 * confirmed is known again only when their results have been read. */
static u64 credited(const struct dh_pipeline *p)
{
    u64 n = 0;
    for (int i = 0; i < DH_PIPELINE_STAGES; i++)
        n += p->took[i].confirmed;
    return n;
}

static u64 unconfirmed(const struct dh_pipeline *p)
{
    return p->n_pairs - confirmed(p);
}

static u64 met(const struct dh_pipeline *p)
{
    u64 n = 0;
    for (size_t i = 0; i < p->n_pairs; i++)
        n += p->pairs[i].met > 0;
    return n;
}

struct way {
    const char *name;
    enum dh_pipeline_stage stage;
    int steer;
    u64 delay_us, trials, end;
    bool follow_up; /* of confirmed pairs, for the consequences; otherwise, of the others */
};

static void take_candidate(struct dh_pipeline *p, struct dh_chase_candidate *at, const struct way *w)
{
    struct dh_pipeline_pair *pair = pair_of(p, at->name);
    pair->pairs = 1 + at->repeated;
    if (pair->confirmed != w->follow_up)
        at->refused = other_way;
}

/* Runs the candidates in one way. */
static int go(struct dh_pipeline *p, struct dh_chase_request *q, const struct way *w)
{
    struct dh_chase_candidates c = {0};
    u64 begin = dh_pipeline_now(), end = deadline(p, w->end);
    if (p->stop || begin + 1000000 > end) /* less than a second is not worthwhile */
        return 0;
    fprintf(stderr, "deadheat pipeline: %s\n", w->name);
    q->steer = w->steer;
    q->delay_us = w->delay_us;
    q->longest_us = q->infer ? LONGEST_US : 0;
    q->trials = w->trials;
    q->follow_up = w->follow_up;
    q->budget_us = end - begin;
    dh_map_init(&c.by_name, &q->arena);
    int rc = dh_chase_from_file(q, &c);
    p->unnamed = c.left_out;
    for (size_t i = 0; !rc && i < c.n; i++)
        take_candidate(p, &c.at[i], w);
    p->nameless = !rc && !c.n;
    if (!rc && c.n)
        rc = dh_chase_many(q, &c);
    if (c.n && (rc == 0 || rc == DH_EXIT_RACES)) {
        take_results(p, &c);
        const u64 all = confirmed(p), before = credited(p);
        p->took[w->stage].confirmed += all > before ? all - before : 0;
        p->took[w->stage].in =
            q->infer ? p->took[DH_PIPELINE_CAPER].pairs : unconfirmed(p) + p->took[w->stage].confirmed;
        p->took[w->stage].runs += q->infer ? q->infer_runs : q->runs;
        p->took[w->stage].us += dh_pipeline_now() - begin;
        p->took[w->stage].pairs = q->infer ? met(p) : unconfirmed(p);
        p->stop |= q->interrupted;
        p->inferred |= q->infer && !p->stop;
        rc = 0;
    }
    free(c.at);
    dh_map_done(&c.by_name);
    return rc;
}

/* Waits get longer from round to round: most races show with short ones, and some programs are too short for
 * long ones. Only steered runs observe what follows a race, so confirmed ones are steered, too. */
static int all_ways(struct dh_pipeline *p, struct dh_chase_request *q)
{
    static const struct way ways[] = {
        {"inference", DH_PIPELINE_INFER, DH_CHASE_FREE, 10000, 0, INFER_END, false},
        {"chase, with waits of 10 ms", DH_PIPELINE_CHASE, DH_CHASE_FREE, 10000, 1, CHASE_END, false},
        {"chase, with waits of 100 ms", DH_PIPELINE_CHASE, DH_CHASE_FREE, 100000, 2, CHASE_END, false},
        {"chase, with waits of 400 ms", DH_PIPELINE_CHASE, DH_CHASE_FREE, 400000, 3, CHASE_END, false},
        {"confirmed races, the first access first", DH_PIPELINE_STEER, DH_CHASE_PRIMARY, 10000, 2,
         FOLLOW_UP_END, true},
        {"confirmed races, the second access first", DH_PIPELINE_STEER, DH_CHASE_ALTERNATE, 10000, 2,
         FOLLOW_UP_END, true},
        {"steering, the first access first", DH_PIPELINE_STEER, DH_CHASE_PRIMARY, 10000, 2, PRIMARY_END,
         false},
        {"steering, the second access first", DH_PIPELINE_STEER, DH_CHASE_ALTERNATE, 10000, 2, ALL, false},
    };
    int rc = 0;
    for (size_t i = 0; !rc && !p->nameless && i < DH_ARRAY_LEN(ways); i++) {
        const struct way *w = &ways[i];
        q->infer = w->stage == DH_PIPELINE_INFER;
        if ((q->infer && p->inferred) || (w->follow_up ? !confirmed(p) : p->n_pairs && !unconfirmed(p)))
            continue;
        rc = go(p, q, w);
        if (!rc)
            rc = dh_pipeline_save(p);
    }
    return rc;
}

int dh_pipeline_chase(struct dh_pipeline *p)
{
    struct dh_chase_request q = dh_chase_defaults();
    if (!p->took[DH_PIPELINE_CAPER].pairs)
        return 0;
    q.argv = p->argv;
    q.from = dh_pipeline_file(p, "pairs.json");
    q.state = dh_pipeline_file(p, "chase");
    q.output = dh_pipeline_file(p, "races.jsonl");
    q.rmax = 1; /* only the pipeline waits for these runs */
    q.delay_given = true;
    q.infer_steady = INFER_STEADY;
    q.lines = &p->lines;
    q.once = true;
    q.brief = true;
    q.may_be_none = true;
    int rc = dh_chase_prepare(&q);
    if (!rc)
        rc = all_ways(p, &q);
    if (p->nameless)
        fprintf(stderr,
                "deadheat pipeline: no pair has two source lines, so none can be chased; build the program "
                "with -g, or with less optimisation\n");
    dh_chase_close_modules(&q);
    dh_arena_done(&q.arena);
    return rc;
}
