/*
 * json_about.c - the document around the findings in JSON: what each command adds to it.
 *
 * A member a line, and a finding a line: large documents can be looked at with the usual tools.
 */
#include "report/json.h"
#include "report/pairs.h"
#include "report/programs.h"
#include "report/reporter.h"

enum { VERSION = 2 };

static void member(struct dh_print *p, const char *key, json_t *value)
{
    fprintf(p->out, ",\n\"%s\":", key);
    dh_json_write(p, value);
}

/* ---- Records ------------------------------------------------------------------------------------------- */

/* In the order in which they began. */
static json_t *processes(const struct dh_model *model)
{
    json_t *list = json_array();
    for (const struct dh_model_process *p = model->process; p; p = p->next) {
        if (!p->announced)
            continue;
        json_array_insert_new(list, 0,
                              json_pack("{ss sI so sb}", "id", p->id, "pid", (json_int_t)p->pid, "exe",
                                        dh_json_text(p->exe), "ended", p->ended));
    }
    return list;
}

static json_t *programs(const struct dh_program *first)
{
    json_t *list = json_array();
    for (const struct dh_program *program = first; program; program = program->next)
        json_array_append_new(list,
                              json_pack("{so sI sI}", "exe", dh_json_text(program->exe), "processes",
                                        (json_int_t)program->processes, "raced", (json_int_t)program->raced));
    return list;
}

static json_t *run_counters(const struct dh_model *model)
{
    static const char *const names[] = {
#define DH_COUNTER(name, help) #name,
#include "event/counters.def"
#undef DH_COUNTER
    };
    json_t *object = json_object();
    for (size_t i = 0; i < DH_ARRAY_LEN(names); i++) {
        u64 n = dh_model_counter(model, names[i]);
        if (n)
            dh_json_number(object, names[i], n);
    }
    return object;
}

static void end_records(struct dh_print *p, const struct dh_print_records *r)
{
    const struct dh_reporter_result *n = r->result;
    member(p, "summary",
           json_pack("{sI sI sI sI sI sb}", "findings", (json_int_t)n->races, "variants",
                     (json_int_t)n->variants, "repetitions", (json_int_t)n->repetitions, "suppressed",
                     (json_int_t)n->suppressed, "bad_lines", (json_int_t)n->bad_lines, "complete",
                     !n->incomplete));
    member(p, "processes", processes(r->model));
    member(p, "programs", programs(r->programs));
    member(p, "counters", run_counters(r->model));
}

/* ---- Traces -------------------------------------------------------------------------------------------- */

static json_t *detector(const struct dh_print_detector *d)
{
    json_t *object = json_object();
    dh_json_put(object, "name", d->name);
    dh_json_put(object, "guarantee", d->guarantee);
    dh_json_number(object, "variables", d->variables);
    dh_json_number(object, "events", d->events);
    dh_json_number(object, "locations", d->places);
    dh_json_number(object, "location_pairs", d->pairs);
    dh_json_number(object, "reports", d->reports);
    if (d->first_event)
        dh_json_number(object, "first_event", d->first_event);
    dh_json_number(object, "memory", d->memory);
    dh_json_number(object, "given_up", d->given_up);
    dh_json_number(object, "suppressed", d->suppressed);
    dh_json_put(object, "error", d->error);
    return object;
}

static void begin_trace(struct dh_print *p, const struct dh_print_trace *t)
{
    json_t *warnings = json_array(), *detectors = json_array();
    for (size_t i = 0; i < t->n_oddities; i++)
        json_array_append_new(warnings, json_pack("{so sI sI}", "what", dh_json_text(t->oddities[i].what),
                                                  "count", (json_int_t)t->oddities[i].count, "first_event",
                                                  (json_int_t)t->oddities[i].first_event));
    for (size_t i = 0; i < t->n_detectors; i++)
        json_array_append_new(detectors, detector(&t->detectors[i]));
    member(p, "trace",
           json_pack("{so sI sI sI sI sI so}", "file", dh_json_text(p->about->input), "events",
                     (json_int_t)t->events, "recorded", (json_int_t)t->recorded, "threads",
                     (json_int_t)t->threads, "locks", (json_int_t)t->locks, "variables",
                     (json_int_t)t->variables, "warnings", warnings));
    member(p, "seconds", json_real(t->seconds));
    member(p, "detectors", detectors);
}

/* ---- Pairs --------------------------------------------------------------------------------------------- */

static json_t *variables(const struct dh_print_static *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_variables; i++) {
        json_t *object = dh_json_location(s->variables[i].variable);
        dh_json_number(object, "pairs", s->variables[i].pairs);
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *assumptions(const struct dh_pairs *t)
{
    json_t *all = json_array();
    for (size_t i = 0; i < t->n_assumptions; i++) {
        const struct dh_pairs_assumption *a = &t->assumptions[i];
        json_t *object = json_object(), *examples = json_array();
        size_t n;
        const u32 *items = dh_pairs_items(t, a->examples, &n);
        for (size_t k = 0; k < n; k++)
            json_array_append_new(examples, dh_json_text(dh_pairs_string(t, items[k])));
        dh_json_put(object, "name", a->name);
        dh_json_put(object, "assumed", a->sentence);
        dh_json_number(object, "count", a->count);
        json_object_set_new(object, "examples", examples);
        json_array_append_new(all, object);
    }
    return all;
}

static json_t *phases(const struct dh_pairs *t)
{
    json_t *all = json_array();
    for (size_t i = 0; i < t->n_phases; i++)
        json_array_append_new(all, json_pack("{so sf sI}", "name", dh_json_text(t->phases[i].name), "seconds",
                                             (double)t->phases[i].microseconds * 1e-6, "peak_kib",
                                             (json_int_t)t->phases[i].peak_kib));
    return all;
}

static void begin_static(struct dh_print *p, const struct dh_print_static *s)
{
    const struct dh_pairs *t = s->table;
    json_t *counters = json_object();
    for (size_t i = 0; i < t->n_counters; i++)
        dh_json_number(counters, t->counters[i].name, t->counters[i].value);
    member(p, "program", dh_json_text(t->program));
    member(p, "producer", dh_json_text(t->producer));
    member(p, "of", dh_json_text(s->of));
    member(p, "style", dh_json_text(s->style));
    member(p, "no_threads", json_boolean(t->no_threads));
    member(p, "pairs", json_integer((json_int_t)s->pairs));
    if (s->bundled)
        member(p, "bundles", json_integer((json_int_t)s->findings));
    member(p, "dropped", json_integer((json_int_t)s->dropped));
    member(p, "variables", variables(s));
    member(p, "assumptions", assumptions(t));
    member(p, "phases", phases(t));
    member(p, "counters", counters);
}

/* ---- The document -------------------------------------------------------------------------------------- */

static void json_begin(struct dh_print *p)
{
    fprintf(p->out, "{\"version\":%d", VERSION);
    member(p, "command", json_string(p->about->command));
    member(p, "input", dh_json_text(p->about->input));
    if (p->about->trace)
        begin_trace(p, p->about->trace);
    if (p->about->pairs)
        begin_static(p, p->about->pairs);
    fputs(",\n\"findings\":[", p->out);
}

static void json_end(struct dh_print *p)
{
    const struct dh_print_about *about = p->about;
    fputs("]", p->out);
    if (about->records)
        end_records(p, about->records);
    else if (about->trace)
        member(p, "summary",
               json_pack("{sI sI}", "findings", (json_int_t)about->trace->findings, "variants",
                         (json_int_t)about->trace->variants));
    else
        member(p, "summary",
               json_pack("{sI sI}", "findings", (json_int_t)about->pairs->findings, "suppressed",
                         (json_int_t)about->pairs->suppressed));
    fputs("}\n", p->out);
}

const struct dh_print_ops dh_print_as_json = {
    .begin = json_begin, .finding = dh_json_finding, .end = json_end};
