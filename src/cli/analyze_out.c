/*
 * analyze_out.c - the results of `deadheat analyze` as a document, with a section for each detector. Events
 * are numbered from 1, like lines.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/analyze.h"
#include "detect/predict.h"
#include "report/finding_trace.h"

/* Why there is no witness, worded to follow "no witness". Claims no more than was examined. */
static const char *missing(struct dh_arena *arena, const struct dh_analyze_race *r)
{
    switch (r->proof) {
    case DH_PROOF_BEYOND:
        return dh_arena_printf(
            arena, "found within the bound: the race is beyond the events held; --hold=%" PRIu64 " holds it",
            dh_analyze_reach(r->race.now.event));
    case DH_PROOF_OPEN:
        return "found: the search ended at its bound, and there may be one";
    case DH_PROOF_PART:
        return "found in the events held (--hold): what follows them was not looked at";
    case DH_PROOF_SPENT:
        return "made: those before it reached the bound on their length";
    case DH_PROOF_NO_MEMORY:
        return "made: not enough memory";
    case DH_PROOF_THREADS:
        return dh_arena_printf(arena, "made: more than %d threads at once", DH_PREDICT_THREADS);
    case DH_PROOF_ONCE:
        return "made: the trace cannot be read a second time";
    default:
        return "found: no reordering of the mutexes' sections shows it";
    }
}

/* Why a detector did not see everything. */
static const char *incomplete(struct dh_arena *arena, const struct dh_analyze *a, int error)
{
    switch (error) {
    case 0:
        return NULL;
    case -EDQUOT:
        return dh_arena_printf(arena, "stopped when it had taken %" PRIu64 " MB of memory (--memory)",
                               a->memory);
    case -E2BIG:
        return dh_arena_printf(arena,
                               "more than %d threads at once, which is its limit; detectors that read the "
                               "trace once have none (--detector=all; shb and wcp predict, too)",
                               DH_PREDICT_THREADS);
    default:
        return strerror(-error);
    }
}

/* ---- Findings ------------------------------------------------------------------------------------------ */

static void name_access(struct dh_analyze *a, const struct dh_race_access *x,
                        struct dh_finding_trace_access *ret)
{
    u64 told;
    if (x->thread == DH_UNKNOWN)
        return;
    ret->known = true;
    ret->write = x->write;
    ret->thread = dh_trace_in_thread(&a->in, x->thread);
    ret->place = dh_trace_in_site(&a->in, x->site);
    if (x->event == DH_NO_EVENT)
        return;
    ret->event = x->event + 1;
    if (a->in.dht && dh_dht_language_access(a->in.dht, x->event, &told))
        ret->language_access = told + 1;
}

/* What a trace without code says about a race. */
static struct dh_finding *of_names(struct dh_analyze *a, struct dh_arena *arena,
                                   const struct dh_analyze_race *told)
{
    const struct dh_race *r = &told->race;
    struct dh_finding_trace race = {
        .variable = dh_trace_in_variable(&a->in, r->cell),
        .expression = dh_trace_in_global(&a->in, r->cell),
    };
    name_access(a, &r->now, &race.accesses[0]);
    name_access(a, &r->earlier, &race.accesses[1]);
    struct dh_finding *f = dh_finding_of_trace(arena, &race);
    dh_analyze_hint_names(a, arena, told, f);
    return f;
}

/* If the file that ran no longer exists, the recording itself says which function and line an access is
 * in. */
static void name_top(const struct dh_analyze *a, struct dh_arena *arena, u32 site,
                     struct dh_symbol_trace *stack)
{
    struct dh_dht_place place;
    struct dh_symbol_frame *top = stack->n ? &stack->frames[0] : NULL;
    if (!top || top->function || top->file || !dh_dht_place(a->in.dht, site, &place) || !place.symbol)
        return;
    const char *tab = strchr(place.symbol, '\t'), *colon = strrchr(place.symbol, ':');
    if (!tab || !colon || colon < tab)
        return;
    top->function = top->brief = top->shown = dh_arena_dup(arena, place.symbol, (size_t)(tab - place.symbol));
    top->file = top->unit_file = dh_arena_dup(arena, tab + 1, (size_t)(colon - tab - 1));
    top->line = atoi(colon + 1);
}

/* What a recording says: as much as a run does, and where in the recording it is. */
static struct dh_finding *of_model(struct dh_analyze *a, struct dh_arena *arena,
                                   const struct dh_analyze_race *r)
{
    struct dh_finding *f = dh_finding_of_record(arena, a->symbols, r->model, a->format == DH_PRINT_TEXT);
    const struct dh_race_access *sides[] = {&r->race.now, &r->race.earlier};
    for (int i = 0; i < 2; i++) {
        struct dh_finding_trace_access named = {0};
        name_access(a, sides[i], &named);
        if (named.known)
            name_top(a, arena, sides[i]->site, &f->accesses[i].stack);
        f->accesses[i].known = named.known;
        f->accesses[i].place = named.known ? dh_arena_strdup(arena, named.place) : NULL;
        f->accesses[i].event = named.event;
        f->accesses[i].language_access = named.language_access;
    }
    return f;
}

struct dh_finding *dh_analyze_finding(struct dh_analyze *a, struct dh_arena *arena, u32 detector,
                                      const struct dh_analyze_race *r)
{
    const struct dh_detector_ops *ops = a->ops[detector];
    bool predicted = ops->guarantee == DH_PREDICTIVE_SOUND, checked = r->proof == DH_PROOF_CHECKED;
    struct dh_finding *f = r->model ? of_model(a, arena, r) : of_names(a, arena, r);
    f->provenance = predicted ? DH_FINDING_PREDICTED : DH_FINDING_OBSERVED;
    f->detector = ops->name;
    f->guarantee = dh_guarantee_name(ops->guarantee);
    if (predicted && checked)
        f->witness = (struct dh_finding_witness){
            .length = r->race.witness_len, .events = r->race.witness, .checked = true};
    else if (predicted)
        f->witness.missing = missing(arena, r);
    f->count = r->count;
    f->moments = r->moments;
    f->n_moments = r->n_moments;
    return f;
}

struct dh_finding *dh_analyze_finding_of_cause(struct dh_analyze *a, struct dh_arena *arena, u32 detector,
                                               const struct dh_analyze_race *r)
{
    const struct dh_analyze_race *races = a->found[detector].races;
    struct dh_finding *f = dh_analyze_finding(a, arena, detector, r), **end = &f->variants;
    for (size_t v = r->variant; v; v = races[v].variant) {
        *end = dh_analyze_finding(a, arena, detector, &races[v]);
        end = &(*end)->next;
    }
    dh_baseline_judge(a->baseline, f);
    return f;
}

/* ---- The document -------------------------------------------------------------------------------------- */

static struct dh_print_detector detector_of(struct dh_analyze *a, struct dh_arena *arena, u32 i)
{
    struct dh_host_result r;
    dh_host_result(a->host, i, &r);
    return (struct dh_print_detector){
        .name = a->ops[i]->name,
        .guarantee = dh_guarantee_name(a->ops[i]->guarantee),
        .variables = r.variables,
        .events = r.racy_events,
        .places = r.places,
        .pairs = r.site_pairs,
        .reports = r.reports,
        .first_event = r.first_event == DH_NO_EVENT ? 0 : r.first_event + 1,
        .memory = r.memory,
        .given_up = r.given_up,
        .suppressed = a->found[i].suppressed,
        .error = incomplete(arena, a, r.error),
    };
}

/* Oddities of the trace. */
static void count_oddities(struct dh_analyze *a, struct dh_arena *arena, struct dh_print_trace *ret)
{
    const struct dh_form *form = dh_trace_in_form(&a->in);
    ret->oddities = dh_arena_array(arena, DH_FORM_WARNINGS, sizeof(*ret->oddities));
    for (u32 w = 0; w < DH_FORM_WARNINGS; w++) {
        if (form->warnings[w])
            ret->oddities[ret->n_oddities++] =
                (struct dh_print_oddity){dh_form_warning_text(w), form->warnings[w], form->first[w] + 1};
    }
}

/* In text a race of a recording is described in full once, however many detectors find it. */
static enum dh_print_detail detail_of(struct dh_map *told, const struct dh_analyze_race *r,
                                      const struct dh_finding *f)
{
    const char *identity = f->fingerprint.identity;
    if (!r->model || dh_map_get(told, identity, strlen(identity)))
        return DH_PRINT_LINE;
    dh_map_put(told, identity, strlen(identity), (void *)r);
    return DH_PRINT_FULL;
}

static void print_section(struct dh_analyze *a, struct dh_print *p, u32 i,
                          const struct dh_print_detector *detector, struct dh_map *told)
{
    const struct dh_analyze_found *f = &a->found[i];
    const struct dh_print_section section = {.detector = detector,
                                             .n = f->n_causes -
                                                  (dh_print_has_known(a->format) ? 0 : f->n_known),
                                             .shown = dh_analyze_listed(a, i)};
    dh_print_open(p, &section);
    for (size_t k = 0; k < section.shown; k++) {
        struct dh_arena arena = {0};
        struct dh_finding *finding = dh_analyze_finding_of_cause(a, &arena, i, &f->races[k]);
        p->detail = detail_of(told, &f->races[k], finding);
        dh_print_finding(p, finding);
        dh_arena_done(&arena);
    }
    dh_print_close(p, &section);
}

void dh_analyze_print(struct dh_analyze *a)
{
    struct dh_arena arena = {0};
    struct dh_trace_in_counts n = dh_trace_in_counts(&a->in);
    struct dh_print_trace trace = {
        .events = a->in.events,
        .recorded = dh_trace_in_recorded(&a->in),
        .threads = n.threads,
        .locks = n.locks,
        .variables = n.variables,
        .seconds = dh_trace_in_seconds(&a->in),
        .detectors = dh_arena_array(&arena, a->n, sizeof(*trace.detectors)),
        .n_detectors = a->n,
        .complete = dh_trace_in_whole(&a->in),
    };
    struct dh_print_about about = {
        .command = "analyze", .input = a->in.shown, .baseline = a->baseline, .trace = &trace};
    struct dh_print p = {.out = stdout, .format = a->format, .source = a->symbols ? &a->source : NULL};
    struct dh_map told;
    char *cwd = getcwd(NULL, 0);
    p.cwd = cwd;
    count_oddities(a, &arena, &trace);
    for (u32 i = 0; i < a->n; i++) {
        trace.detectors[i] = detector_of(a, &arena, i);
        trace.findings += a->found[i].n_causes;
        trace.variants += a->found[i].n;
        about.known += a->found[i].n_known;
    }
    dh_map_init(&told, &arena);
    dh_print_begin(&p, &about);
    for (u32 i = 0; i < a->n; i++)
        print_section(a, &p, i, &trace.detectors[i], &told);
    p.detail = DH_PRINT_LINE;
    dh_print_end(&p);
    dh_print_done(&p);
    dh_map_done(&told);
    free(cwd);
    dh_arena_done(&arena);
}
