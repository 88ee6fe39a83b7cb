/*
 * analyze_out.c - what `deadheat analyze` found, as text and as JSON. Events are numbered from 1, like lines.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/analyze.h"
#include "detect/predict.h"
#include "util/arena.h"
#include "util/text.h"

static const char *plural(u64 n)
{
    return n == 1 ? "" : "s";
}

/* Why there is no witness, in words that follow "no witness". Never more than was looked at. */
static const char *missing(const struct dh_analyze_race *r)
{
    static char text[128];
    switch (r->proof) {
    case DH_PROOF_BEYOND:
        snprintf(text, sizeof(text),
                 "found within the bound: the race is beyond the events held; --hold=%" PRIu64 " holds it",
                 dh_analyze_reach(r->race.now.event));
        return text;
    case DH_PROOF_OPEN:
        return "found: the search ended at its bound, and there may be one";
    case DH_PROOF_PART:
        return "found in the events held (--hold): what follows them was not looked at";
    case DH_PROOF_SPENT:
        return "made: those before it reached the bound on their length";
    case DH_PROOF_NO_MEMORY:
        return "made: not enough memory";
    case DH_PROOF_ONCE:
        return "made: the trace cannot be read a second time";
    default:
        return "found: no reordering of the mutexes' sections shows it";
    }
}

/* Why a detector did not see everything. */
static const char *incomplete(const struct dh_analyze *a, int error)
{
    static char text[128];
    switch (error) {
    case -EDQUOT:
        snprintf(text, sizeof(text), "stopped when it had taken %" PRIu64 " MB of memory (--memory)",
                 a->memory);
        return text;
    case -E2BIG:
        snprintf(text, sizeof(text), "more than %d threads at once", DH_PREDICT_THREADS);
        return text;
    default:
        return strerror(-error);
    }
}

/* A predicted race is proved by its witness, or is said to be unconfirmed. */
static void text_witness(const struct dh_analyze *a, const struct dh_detector_ops *ops,
                         const struct dh_analyze_race *r)
{
    u64 n = r->race.witness_len;
    if (ops->guarantee != DH_PREDICTIVE_SOUND)
        return;
    if (r->proof != DH_PROOF_CHECKED) {
        printf("    no witness %s\n", missing(r));
        return;
    }
    printf("    a witness of %" PRIu64 " event%s, checked", n, plural(n));
    for (u64 i = 0; r->race.witness && i < n; i++)
        printf("%s %u", i ? "" : ":", r->race.witness[i] + 1);
    puts(a->witness ? "" : " (--witness shows it)");
}

/* "write by T1 at 7" */
static void text_access(struct dh_analyze *a, const struct dh_race_access *x)
{
    fputs(x->write ? "write by " : "read by ", stdout);
    dh_text_put(stdout, dh_trace_in_thread(&a->in, x->thread));
    fputs(" at ", stdout);
    dh_text_put(stdout, dh_trace_in_site(&a->in, x->site));
    if (x->event != DH_NO_EVENT)
        printf(" (event %" PRIu64 ")", x->event + 1);
}

static void text_race(struct dh_analyze *a, const struct dh_race *r)
{
    const char *global = dh_trace_in_global(&a->in, r->cell);
    fputs("  ", stdout);
    if (global) {
        dh_text_put(stdout, global);
        putchar(' ');
    }
    dh_text_put(stdout, dh_trace_in_variable(&a->in, r->cell));
    fputs(": ", stdout);
    text_access(a, &r->now);
    if (r->earlier.thread != DH_UNKNOWN) {
        fputs(", earlier ", stdout);
        text_access(a, &r->earlier);
    }
    putchar('\n');
}

void dh_analyze_text(struct dh_analyze *a)
{
    struct dh_trace_in_counts n = dh_trace_in_counts(&a->in);
    u64 recorded = dh_trace_in_recorded(&a->in);
    dh_text_put(stdout, a->in.shown);
    printf(": %" PRIu64 " events", a->in.events);
    if (recorded != a->in.events)
        printf(" (%" PRIu64 " as recorded)", recorded);
    printf(", %u threads, %u locks, %u variables\n", n.threads, n.locks, n.variables);
    for (u32 i = 0; i < a->n; i++) {
        struct dh_host_result r;
        const struct dh_analyze_found *f = &a->found[i];
        dh_host_result(a->host, i, &r);
        printf("\n%s (%s): ", a->ops[i]->name, dh_guarantee_name(a->ops[i]->guarantee));
        if (r.reports == 0)
            puts(r.error ? "no races before it stopped" : "no races");
        else
            printf("%" PRIu64 " racy variable%s, %" PRIu64 " racy event%s at %" PRIu64 " location%s, %" PRIu64
                   " pair%s of locations\n",
                   r.variables, plural(r.variables), r.racy_events, plural(r.racy_events), r.places,
                   plural(r.places), r.site_pairs, plural(r.site_pairs));
        size_t shown = a->limit && f->n > a->limit ? a->limit : f->n;
        for (size_t k = 0; k < shown; k++) {
            text_race(a, &f->races[k].race);
            text_witness(a, a->ops[i], &f->races[k]);
        }
        if (shown < f->n)
            printf("  ... and %zu more (--limit=0 shows all)\n", f->n - shown);
        if (r.given_up)
            printf("  incomplete: %" PRIu64 " possible race%s not decided, at the bound of the search\n",
                   r.given_up, plural(r.given_up));
        if (r.error)
            printf("  incomplete: %s\n", incomplete(a, r.error));
    }
}

static json_t *json_name(const char *name)
{
    json_t *text = json_string(name);
    return text ? text : json_string_nocheck("?"); /* a name that is not UTF-8 */
}

/* A number of a text, a place of a recording. */
static json_t *json_site(struct dh_analyze *a, u32 site)
{
    return a->in.dht ? json_name(dh_trace_in_site(&a->in, site)) : json_integer((int32_t)site);
}

static json_t *json_access(struct dh_analyze *a, const struct dh_race_access *x)
{
    if (x->thread == DH_UNKNOWN)
        return json_null();
    u64 told;
    bool known = x->event != DH_NO_EVENT;
    bool language = known && a->in.dht && dh_dht_language_access(a->in.dht, x->event, &told);
    return json_pack("{s:o, s:s, s:o, s:o, s:o*}", "thread", json_name(dh_trace_in_thread(&a->in, x->thread)),
                     "op", x->write ? "write" : "read", "location", json_site(a, x->site), "event",
                     known ? json_integer((json_int_t)x->event + 1) : json_null(), "language_access",
                     language ? json_integer((json_int_t)told) : NULL);
}

/* The events of a witness if they were asked for, else how many there are; null: there is none. */
static json_t *json_witness(const struct dh_race *r)
{
    if (r->witness_len == 0)
        return json_null();
    if (!r->witness)
        return json_integer((json_int_t)r->witness_len);
    json_t *events = json_array();
    for (u64 i = 0; i < r->witness_len; i++)
        json_array_append_new(events, json_integer((json_int_t)r->witness[i] + 1));
    return events;
}

static json_t *json_detector(struct dh_analyze *a, u32 i)
{
    struct dh_host_result r;
    dh_host_result(a->host, i, &r);
    json_t *races = json_array();
    for (size_t k = 0; k < a->found[i].n; k++) {
        const struct dh_analyze_race *found = &a->found[i].races[k];
        const struct dh_race *race = &found->race;
        bool predicted = a->ops[i]->guarantee == DH_PREDICTIVE_SOUND,
             checked = found->proof == DH_PROOF_CHECKED;
        const char *global = dh_trace_in_global(&a->in, race->cell);
        json_array_append_new(races,
                              json_pack("{s:o, s:o*, s:o, s:o, s:o*, s:o*, s:s*}", "variable",
                                        json_name(dh_trace_in_variable(&a->in, race->cell)), "global",
                                        global ? json_name(global) : NULL, "access",
                                        json_access(a, &race->now), "earlier", json_access(a, &race->earlier),
                                        "witness", predicted ? json_witness(race) : NULL, "witness_checked",
                                        predicted ? json_boolean(checked) : NULL, "no_witness",
                                        predicted && !checked ? missing(found) : NULL));
    }
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:o, s:o}", "name", a->ops[i]->name,
                     "guarantee", dh_guarantee_name(a->ops[i]->guarantee), "variables",
                     (json_int_t)r.variables, "events", (json_int_t)r.racy_events, "locations",
                     (json_int_t)r.places, "location_pairs", (json_int_t)r.site_pairs, "reports",
                     (json_int_t)r.reports, "first_event",
                     r.first_event == DH_NO_EVENT ? json_null() : json_integer((json_int_t)r.first_event + 1),
                     "memory", (json_int_t)r.memory, "given_up", (json_int_t)r.given_up, "error",
                     r.error ? json_string(incomplete(a, r.error)) : json_null(), "races", races);
}

void dh_analyze_json(struct dh_analyze *a)
{
    const struct dh_form *form = dh_trace_in_form(&a->in);
    struct dh_trace_in_counts n = dh_trace_in_counts(&a->in);
    json_t *warnings = json_array(), *detectors = json_array();
    for (u32 w = 0; w < DH_FORM_WARNINGS; w++) {
        if (form->warnings[w])
            json_array_append_new(warnings, json_pack("{s:s, s:I, s:I}", "what", dh_form_warning_text(w),
                                                      "count", (json_int_t)form->warnings[w], "first_event",
                                                      (json_int_t)form->first[w] + 1));
    }
    for (u32 i = 0; i < a->n; i++)
        json_array_append_new(detectors, json_detector(a, i));
    json_t *root = json_pack("{s:i, s:{s:o, s:I, s:I, s:i, s:i, s:i, s:o}, s:f, s:o}", "version", 1, "trace",
                             "file", json_name(a->in.shown), "events", (json_int_t)a->in.events, "recorded",
                             (json_int_t)dh_trace_in_recorded(&a->in), "threads", (int)n.threads, "locks",
                             (int)n.locks, "variables", (int)n.variables, "warnings", warnings, "seconds",
                             dh_trace_in_seconds(&a->in), "detectors", detectors);
    if (!root)
        dh_util_no_memory();
    json_dumpf(root, stdout, JSON_INDENT(1) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));
    puts("");
    json_decref(root);
}
