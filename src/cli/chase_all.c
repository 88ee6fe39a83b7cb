/*
 * chase_all.c - many pairs, one in each run of the program: which is next, what is known about each, and the
 * totals, as in table 2 of the paper (Caper and RaceChaser, CC 2017, section 8.2.2).
 *
 * A round gives every pair one run in each order: with A waiting, and with B. What earlier runs have shown
 * decides what comes first: pairs whose two accesses met on the same bytes, then those of which one was
 * reached; then those that their source ranks higher. A pair that was confirmed twice is not run again.
 *
 * A large program has more pairs than there can be runs. Then there are first as many runs for all of them
 * together (dynamic context inference), and pairs that have met get all their rounds before the others have
 * their first. Without any trials there is only one run, for inference.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/chase.h"
#include "cli/cmd.h"
#include "report/json.h"
#include "report/table.h"
#include "util/output.h"
#include "util/path.h"
#include "util/text.h"

enum { ENOUGH = 2 };

struct many {
    struct dh_chase_request *q;
    struct dh_chase_candidates *c;
    struct dh_chase_state state;
    struct dh_reporter *reporter;
    int output; /* -1: none */
    u64 start, runs;
    bool stop; /* the time is over, the user has interrupted, or the program cannot be run */
    bool trouble;
    struct dh_chase_inference inf;
    struct dh_chase_live live;
};

static const char *steer_word(const struct dh_chase_request *q)
{
    static const char *const words[] = {NULL, "primary", "alternate"};
    return words[q->steer];
}

/* ---- What is known ---- */

static void count(struct dh_chase_candidate *c, const struct dh_chase_outcome *o)
{
    c->runs[o->swapped]++;
    c->confirmed += strcmp(o->word, "confirmed") == 0;
    c->timeouts += strcmp(o->word, "timeout") == 0;
    c->ordered += strcmp(o->word, "no race") == 0;
    c->reached += strcmp(o->word, "not reached") != 0;
    c->met += o->met;
}

/* For machine-written pairs: another compiler has other columns, and another machine other directories. */
static bool is_same(const struct many *m, const struct dh_chase_position *a,
                    const struct dh_chase_position *b)
{
    bool foreign = m->q->from != NULL;
    return a->line == b->line && (foreign || a->all || b->all || a->column == b->column) &&
           a->kinds & b->kinds &&
           (foreign ? strcmp(dh_path_base(a->file), dh_path_base(b->file)) : strcmp(a->file, b->file)) == 0;
}

static bool is_pair(const struct many *m, const struct dh_chase_candidate *c,
                    const struct dh_chase_position at[2])
{
    return (is_same(m, &c->at[0], &at[0]) && is_same(m, &c->at[1], &at[1])) ||
           (is_same(m, &c->at[0], &at[1]) && is_same(m, &c->at[1], &at[0]));
}

/* Puts the candidates of two positions that met first; a pair that is not a candidate becomes one: it may be
 * part of a bundle, of the other style, or one that the analysis has missed. */
static void promote(struct many *m, const struct dh_chase_position at[2])
{
    bool known = false;
    for (size_t i = 0; i < m->c->n; i++) {
        if (is_pair(m, &m->c->at[i], at)) {
            m->c->at[i].met++;
            known = true;
        }
    }
    struct dh_chase_candidate *new = known ? NULL : dh_chase_add_candidate(m->q, m->c, at);
    if (new)
        new->met = 1;
}

/* Two accesses were seen at the same time during inference: that is a race, as in a run for this pair. One
 * run may show several meetings of a pair, with different columns or threads, so all of them count as one. */
static void confirm(struct many *m, const struct dh_chase_position at[2])
{
    for (size_t i = 0; i < m->c->n; i++) {
        struct dh_chase_candidate *c = &m->c->at[i];
        if (c->inferred || !is_pair(m, c, at))
            continue;
        c->inferred = true;
        c->confirmed++;
        c->reached++;
    }
}

static void take_meeting(struct many *m, const struct dh_chase_position at[2], bool at_once)
{
    promote(m, at);
    if (at_once)
        confirm(m, at);
}

/* From a state. Runs that were steered differently are not counted. */
static void take(void *ctx, const struct dh_chase_outcome *o)
{
    struct many *m = ctx;
    struct dh_chase_position at[2];
    const char *why;
    if (strcmp(o->word, "met") == 0) {
        if (dh_chase_position_pair(&m->q->arena, o->pair, at, &why) == 0)
            take_meeting(m, at, o->at_once && !m->q->follow_up);
        return;
    }
    const size_t *index = dh_map_get(&m->c->by_name, o->pair, strlen(o->pair));
    const char *steer = steer_word(m->q);
    bool same = steer && o->steer ? strcmp(steer, o->steer) == 0 : !steer && !o->steer;
    if (index && same)
        count(&m->c->at[*index], o);
}

static int by_promise(const void *a, const void *b, void *ctx)
{
    const struct dh_chase_candidate *all = ctx;
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    const struct dh_chase_candidate *x = &all[i], *y = &all[k];
    if (!x->met != !y->met)
        return x->met ? -1 : 1;
    if (!x->reached != !y->reached)
        return x->reached ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (i > k) - (i < k);
}

static const char *verdict_of(const struct dh_chase_candidate *c)
{
    return c->confirmed               ? "confirmed"
           : c->timeouts              ? "timeout"
           : c->refused               ? "not chased"
           : c->ordered               ? "no race"
           : c->reached               ? "not seen"
           : c->runs[0] || c->runs[1] ? "not reached"
                                      : "left";
}

static struct dh_chase_sum sum_up(const struct dh_chase_candidates *c)
{
    struct dh_chase_sum s = {0};
    for (size_t i = 0; i < c->n; i++) {
        const struct dh_chase_candidate *at = &c->at[i];
        bool tried = at->runs[0] || at->runs[1] || at->confirmed; /* in a run for it, or in one for all */
        s.tried += tried;
        s.reached += at->reached > 0;
        s.confirmed += at->confirmed > 0;
        s.twice += at->confirmed >= ENOUGH;
        s.timeout += !at->confirmed && at->timeouts;
        s.not_seen += tried && !at->confirmed && !at->timeouts;
        s.not_chased += !tried && at->refused;
        s.left += !tried && !at->refused;
    }
    return s;
}

/* ---- Runs ---- */

static const char *outcome_of(const struct dh_chase_trial *t)
{
    return t->confirmed ? "confirmed"
           : t->timeout ? "timeout"
           : t->ordered ? "no race"
           : t->reached ? "not seen"
                        : "not reached";
}

static const char *short_name(struct many *m, const struct dh_chase_position *p)
{
    struct dh_arena *arena = &m->q->arena;
    return dh_arena_printf(arena, "%s:%d", dh_text_shown(arena, dh_path_base(p->file)), p->line);
}

/* word: the outcome of a run; NULL: it begins. */
static void say(struct many *m, const struct dh_chase_candidate *c, bool swapped, const char *word)
{
    struct dh_arena *arena = &m->q->arena;
    const char *a = short_name(m, &c->at[0]), *b = short_name(m, &c->at[1]);
    if (!m->live.on) {
        if (word)
            fprintf(stderr, "deadheat chase: %s with %s: %s\n", a, b, word);
        return;
    }
    const char *order = m->q->steer ? dh_arena_printf(arena, "%s order", steer_word(m->q))
                                    : dh_arena_printf(arena, "a thread waits at %s", swapped ? b : a);
    const char *run = dh_arena_printf(arena, "%s with %s (%s): %s", a, b, order, word ? word : "running");
    m->live.sum = sum_up(m->c);
    m->live.pairs = m->c->n;
    m->live.runs = m->runs;
    dh_chase_live_show(&m->live, word ? "" : run, word ? run : NULL);
}

static void note_interrupt(struct many *m, const struct dh_chase_trial *t)
{
    if (dh_chase_was_interrupted(t))
        m->stop = m->q->interrupted = true;
}

static void run_once(struct many *m, struct dh_chase_candidate *c, bool swapped)
{
    struct dh_chase_request *q = m->q;
    char *records = NULL;
    size_t len = 0;
    q->tau_us = dh_chase_tau(c->timeouts);
    q->positions[0] = c->at[swapped];
    q->positions[1] = c->at[!swapped];
    c->refused = dh_chase_find_candidate(q);
    if (c->refused) {
        say(m, c, swapped, dh_arena_printf(&q->arena, "not chased: %s", c->refused));
        return;
    }
    m->runs++;
    say(m, c, swapped, NULL);
    q->copy = open_memstream(&records, &len);
    if (!q->copy)
        dh_util_no_memory();
    struct dh_chase_trial t = dh_chase_try(q, m->reporter, m->output);
    fclose(q->copy);
    q->copy = NULL;
    note_interrupt(m, &t);
    m->stop |= !t.ran || t.broken_off || t.deaf;
    m->trouble |= !t.ran || t.blind;
    if (t.ran && !t.broken_off && !t.blind) {
        struct dh_chase_outcome o = {.pair = c->name,
                                     .word = outcome_of(&t),
                                     .steer = steer_word(q),
                                     .swapped = swapped,
                                     .met = t.confirmed || t.harmless};
        o.fingerprint = t.confirmed ? dh_chase_fingerprint(&q->arena, records, len) : NULL;
        c->fingerprint = o.fingerprint ? o.fingerprint : c->fingerprint;
        count(c, &o);
        dh_chase_state_add(&m->state, &o);
        say(m, c, swapped, o.word);
    }
    free(records);
}

/* ---- Inference ---- */

/* Records what a run has shown that was not known. Returns how many meetings. */
static size_t take_meetings(struct many *m, struct dh_chase_inference *inf)
{
    size_t new = 0;
    for (size_t i = 0; i < inf->n; i++) {
        struct dh_chase_meeting *at = &inf->at[i];
        struct dh_chase_outcome o = {.pair = at->name, .word = "met", .met = true, .at_once = at->at_once};
        if (at->known && at->known_at_once == at->at_once)
            continue;
        take_meeting(m, at->at, at->at_once);
        dh_chase_state_add(&m->state, &o);
        at->known = true;
        at->known_at_once = at->at_once;
        new ++;
    }
    return new;
}

/* One run, or several until nothing new is found. */
static void infer(struct many *m)
{
    struct dh_chase_request *q = m->q;
    struct dh_chase_inference *inf = &m->inf;
    const u64 deadline = q->deadline_us, until = q->infer_us ? dh_chase_now_us() + q->infer_us : 0;
    u64 steady = 0, blind = 0;
    bool over = false;
    q->deadline_us = until && (!deadline || until < deadline) ? until : deadline;
    while (!over && !m->stop) {
        struct dh_chase_trial t = dh_chase_infer_run(inf, m->reporter, m->output);
        note_interrupt(m, &t);
        m->stop |= !t.ran || t.deaf;
        m->trouble |= !t.ran;
        q->infer_runs++;
        blind += t.blind; /* if not all are, that was due to how this one ended */
        steady = take_meetings(m, inf) ? 0 : steady + 1;
        over = !q->infer_steady || t.broken_off || blind == q->infer_runs || steady >= q->infer_steady ||
               (q->deadline_us && dh_chase_now_us() >= q->deadline_us);
    }
    m->trouble |= blind == q->infer_runs;
    q->deadline_us = deadline;
}

/* As many runs as trials, each for all pairs; or as many as it takes until nothing new is found. */
static void infer_rounds(struct many *m)
{
    u64 round = 0;
    do {
        infer(m);
        m->stop |= m->q->deadline_us && dh_chase_now_us() >= m->q->deadline_us;
    } while (!m->stop && !m->q->infer_steady && ++round < m->q->trials);
    m->q->unwatched = false; /* pairs that are chased next need no watchpoints */
}

/* ---- Rounds ---- */

/* A steered pair has one order, the requested one. */
static void run_round(struct many *m, u64 round, const size_t *order, bool only_met)
{
    int orders = m->q->steer ? 1 : 2;
    for (size_t i = 0; i < m->c->n; i++) {
        struct dh_chase_candidate *c = &m->c->at[order[i]];
        bool itself = strcmp(dh_chase_position_text(&m->q->arena, &c->at[0]),
                             dh_chase_position_text(&m->q->arena, &c->at[1])) == 0;
        for (int o = 0; o < (itself ? 1 : orders); o++) {
            if ((only_met && !c->met) || c->refused || c->confirmed >= (m->q->once ? 1 : ENOUGH) ||
                c->runs[o] > round)
                continue;
            m->stop |= m->q->deadline_us && dh_chase_now_us() >= m->q->deadline_us;
            if (m->stop)
                return;
            run_once(m, c, o == 1);
        }
    }
}

/* The candidates, the most promising first; to be freed. An inference run may have added some. */
static size_t *in_order(const struct dh_chase_candidates *c)
{
    size_t *order = dh_util_alloc((c->n + 1) * sizeof(*order));
    for (size_t i = 0; i < c->n; i++)
        order[i] = i;
    qsort_r(order, c->n, sizeof(*order), by_promise, c->at);
    return order;
}

static void run_rounds(struct many *m, bool only_met)
{
    for (u64 round = 0; round < m->q->trials && !m->stop; round++) {
        size_t *order = in_order(m->c);
        run_round(m, round, order, only_met);
        free(order);
    }
}

/* ---- The totals ---- */

static json_t *number(u64 n)
{
    return json_integer((json_int_t)n);
}

static json_t *results(const struct dh_chase_candidates *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->n; i++) {
        const struct dh_chase_candidate *at = &c->at[i];
        json_array_append_new(list, json_pack("{s:o, s:s, s:i, s:i, s:i, s:s*, s:o*}", "pair",
                                              dh_json_text(at->name), "outcome", verdict_of(at), "runs",
                                              (int)(at->runs[0] + at->runs[1]), "reached", (int)at->reached,
                                              "confirmed", (int)at->confirmed, "fingerprint", at->fingerprint,
                                              "why", dh_json_text(at->refused)));
    }
    return list;
}

static json_t *unchased(const struct dh_chase_request *q)
{
    json_t *list = json_array(), *one;
    const char *key;
    json_object_foreach(q->unchased, key, one) json_array_append(list, one);
    return list;
}

static json_t *document_of(const struct many *m, const struct dh_chase_sum *s)
{
    return json_pack("{s:i, s:o, s:s, s:o, s:o, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "version", 1, "program", dh_json_text(m->q->modules[0].path), "build_id",
                     dh_chase_lines_build_id(m->q->modules[0].file), "pairs", number(m->c->n), "runs",
                     number(m->runs), "seconds", (double)(dh_chase_now_us() - m->start) / 1e6, "tried",
                     number(s->tried), "reached", number(s->reached), "confirmed", number(s->confirmed),
                     "twice", number(s->twice), "not_seen", number(s->not_seen), "timeout",
                     number(s->timeout), "not_chased", number(s->not_chased), "left", number(s->left),
                     "left_out", number(m->c->left_out), "unchased", unchased(m->q), "results",
                     results(m->c));
}

static void print_sum(const struct many *m, json_t *document)
{
    static const struct dh_print_column facts[] = {
        {.member = "pairs", .title = "pairs"},
        {.member = "runs", .title = "runs"},
        {.member = "seconds", .title = "s", .decimals = 1},
    };
    static const struct dh_print_column counts[] = {
        {.member = "tried", .title = "tried"},           {.member = "reached", .title = "reached"},
        {.member = "confirmed", .title = "confirmed"},   {.member = "twice", .title = "twice"},
        {.member = "not_seen", .title = "not seen"},     {.member = "timeout", .title = "timeout"},
        {.member = "not_chased", .title = "not chased"}, {.member = "left", .title = "left"},
    };
    static const struct dh_print_table table = {
        .member = "rows", .columns = counts, .n_columns = DH_ARRAY_LEN(counts)};
    static const struct dh_print_tables about = {.subject = "deadheat chase",
                                                 .facts = facts,
                                                 .n_facts = DH_ARRAY_LEN(facts),
                                                 .tables = &table,
                                                 .n_tables = 1};
    json_t *shown = json_copy(document); /* it is also the only row of its table */
    json_object_set_new(shown, "rows", json_pack("[O]", document));
    dh_print_tables(stderr, "text", &about, shown);
    json_decref(shown);
    if (m->c->left_out)
        fprintf(stderr,
                "deadheat chase: %" PRIu64
                " more were proposed that cannot be named by two lines, or that a pair "
                "above stands for\n",
                m->c->left_out);
}

int dh_chase_write_summary(struct dh_chase_request *q, const json_t *document)
{
    struct dh_output to = {0};
    if (dh_output_open(&to, &q->arena, q->summary) != 0)
        return dh_cli_fail("chase", "cannot write '%s': %s", q->summary, to.why);
    dh_print_tables(to.stream, "json", NULL, document);
    if (dh_output_commit(&to) != 0)
        return dh_cli_fail("chase", "cannot write '%s': %s", q->summary, to.why);
    return 0;
}

/* If requested, or because there cannot be enough runs for one pair each. */
static bool wants_inference(const struct dh_chase_request *q, const struct dh_chase_candidates *c)
{
    enum { MANY = 256 };
    if (!q->infer && q->all && !q->steer && c->n > MANY) {
        fprintf(stderr, "deadheat chase: there are %zu pairs: the first runs are for all of them\n", c->n);
        return true;
    }
    return q->infer;
}

int dh_chase_many(struct dh_chase_request *q, struct dh_chase_candidates *c)
{
    struct dh_reporter_result result;
    struct many m = {.q = q, .c = c, .state.fd = -1, .start = dh_chase_now_us()};
    int rc = q->state ? dh_chase_state_open(q, &m.state, take, &m) : 0;
    if (!rc)
        rc = dh_chase_open_output(q, &m.output);
    if (rc) {
        dh_chase_state_close(&m.state);
        return rc;
    }
    q->again = true;
    q->infer_runs = 0;
    q->deadline_us = q->budget_us ? m.start + q->budget_us : 0;
    m.reporter = dh_chase_reporter(q);
    if (wants_inference(q, c)) {
        rc = dh_chase_infer_begin(q, &m.inf, q->from ? c : NULL);
        if (!rc) {
            dh_chase_infer_promise(&m.inf, c);
            infer_rounds(&m);
        }
    }
    if (!rc)
        dh_chase_live_begin(&m.live, m.start, q->budget_us);
    q->live = m.live.on ? &m.live : NULL;
    if (!rc && m.inf.q)
        run_rounds(&m, true);
    if (!rc)
        run_rounds(&m, false);
    dh_chase_live_end(&m.live);
    q->live = NULL;
    dh_reporter_finish(m.reporter, &result);
    struct dh_chase_sum sum = sum_up(c);
    json_t *document = document_of(&m, &sum);
    if (m.inf.q) {
        dh_chase_infer_print(&m.inf);
        json_object_set_new(document, "met", dh_chase_infer_json(&m.inf));
        dh_chase_infer_end(&m.inf);
    }
    q->runs = m.runs;
    if (!q->brief)
        print_sum(&m, document);
    if (!rc && q->summary)
        rc = dh_chase_write_summary(q, document);
    json_decref(document);
    dh_chase_state_close(&m.state);
    if (m.output >= 0)
        close(m.output);
    if (rc || result.bad_suppressions)
        return DH_EXIT_TROUBLE;
    if (sum.confirmed)
        return (int)q->exitcode;
    return m.trouble ? DH_EXIT_TROUBLE : 0;
}
