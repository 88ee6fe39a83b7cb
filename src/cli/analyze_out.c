/*
 * analyze_out.c - what `deadheat analyze` found, as a document: a section a detector. Events are numbered
 * from 1, like lines.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/analyze.h"
#include "detect/predict.h"
#include "report/finding_trace.h"

/* Why there is no witness, in words that follow "no witness". Never more than was looked at. */
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
        return dh_arena_printf(arena, "more than %d threads at once", DH_PREDICT_THREADS);
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

struct dh_finding *dh_analyze_finding(struct dh_analyze *a, struct dh_arena *arena, u32 detector,
                                      const struct dh_analyze_race *r)
{
    const struct dh_detector_ops *ops = a->ops[detector];
    bool predicted = ops->guarantee == DH_PREDICTIVE_SOUND, checked = r->proof == DH_PROOF_CHECKED;
    struct dh_finding_trace race = {
        .detector = ops->name,
        .guarantee = dh_guarantee_name(ops->guarantee),
        .variable = dh_trace_in_variable(&a->in, r->race.cell),
        .expression = dh_trace_in_global(&a->in, r->race.cell),
        .predicted = predicted,
    };
    name_access(a, &r->race.now, &race.accesses[0]);
    name_access(a, &r->race.earlier, &race.accesses[1]);
    if (predicted && checked)
        race.witness = (struct dh_finding_witness){
            .length = r->race.witness_len, .events = r->race.witness, .checked = true};
    else if (predicted)
        race.witness.missing = missing(arena, r);
    struct dh_finding *f = dh_finding_of_trace(arena, &race);
    f->count = r->count;
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

static void print_section(struct dh_analyze *a, struct dh_print *p, u32 i,
                          const struct dh_print_detector *detector)
{
    const struct dh_analyze_found *f = &a->found[i];
    const struct dh_print_section section = {
        .detector = detector, .n = f->n_causes, .shown = dh_analyze_listed(a, i)};
    dh_print_open(p, &section);
    for (size_t k = 0; k < section.shown; k++) {
        struct dh_arena arena = {0};
        struct dh_finding *finding = dh_analyze_finding(a, &arena, i, &f->races[k]),
                          **end = &finding->variants;
        for (size_t v = f->races[k].variant; v; v = f->races[v].variant) {
            *end = dh_analyze_finding(a, &arena, i, &f->races[v]);
            end = &(*end)->next;
        }
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
    };
    const struct dh_print_about about = {.command = "analyze", .input = a->in.shown, .trace = &trace};
    struct dh_print p = {.out = stdout, .format = a->format, .detail = DH_PRINT_LINE};
    count_oddities(a, &arena, &trace);
    for (u32 i = 0; i < a->n; i++) {
        trace.detectors[i] = detector_of(a, &arena, i);
        trace.findings += a->found[i].n_causes;
        trace.variants += a->found[i].n;
    }
    dh_print_begin(&p, &about);
    for (u32 i = 0; i < a->n; i++)
        print_section(a, &p, i, &trace.detectors[i]);
    dh_print_end(&p);
    dh_print_done(&p);
    dh_arena_done(&arena);
}
