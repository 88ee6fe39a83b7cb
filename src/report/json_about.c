/*
 * json_about.c - the document around the findings in JSON: what each command adds to it.
 *
 * One member or finding per line, so that large documents can be viewed with the usual tools.
 */
#include "report/json.h"

#include <time.h>

#include "report/pairs.h"
#include "report/programs.h"
#include "report/reporter.h"

enum { VERSION = 2 };

/* The members of an object, which is dropped, as members of the document. */
static void members(struct dh_print *p, json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        fprintf(p->out, ",\n\"%s\":", key);
        dh_json_write(p, json_incref(value));
    }
    json_decref(object);
}

static json_t *count(u64 n)
{
    return json_integer((json_int_t)n);
}

/* ---- Records ------------------------------------------------------------------------------------------- */

/* "2026-11-18T07:00:00.123Z" */
static json_t *instant(u64 ms)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm t;
    char text[64];
    if (!ms || !gmtime_r(&seconds, &t) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &t))
        return NULL;
    return json_sprintf("%s.%03uZ", text, (unsigned)(ms % 1000));
}

static json_t *texts(const char *const *list, size_t n)
{
    json_t *all = n ? json_array() : NULL;
    for (size_t i = 0; i < n; i++)
        json_array_append_new(all, dh_json_text(list[i]));
    return all;
}

static json_t *some_text(const char *s)
{
    return s && s[0] ? dh_json_text(s) : NULL;
}

/* In the order in which they began. */
static json_t *processes(const struct dh_print_records *r)
{
    json_t *list = json_array();
    for (const struct dh_model_process *p = r->model->process; p; p = p->next) {
        if (p->announced)
            json_array_insert_new(list, 0,
                                  dh_json_object("id", json_string(p->id), "pid", count(p->pid), "exe",
                                                 dh_json_text(p->exe), "args", texts(p->args, p->n_args),
                                                 "cwd", some_text(p->cwd), "started", instant(p->started),
                                                 "host", some_text(p->host), "test", some_text(p->test),
                                                 "ended", r->ends ? json_boolean(p->ended) : NULL, NULL));
    }
    return list;
}

static json_t *programs(const struct dh_program *first)
{
    json_t *list = json_array();
    for (const struct dh_program *program = first; program; program = program->next)
        json_array_append_new(list, json_pack("{so so so}", "exe", dh_json_text(program->exe), "processes",
                                              count(program->processes), "raced", count(program->raced)));
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
    for (size_t i = 0; i < DH_ARRAY_LEN(names); i++)
        json_object_set_new(object, names[i], dh_json_number(dh_model_counter(model, names[i])));
    return object;
}

/* NULL: there is no baseline. */
static json_t *known(const struct dh_print *p)
{
    return p->about->baseline ? count(p->about->known) : NULL;
}

static json_t *about_records(const struct dh_print *p)
{
    const struct dh_print_records *r = p->about->records;
    const struct dh_reporter_result *n = r->result;
    json_t *summary =
        dh_json_object("findings", count(n->races), "known", known(p), "variants", count(n->variants),
                       "repetitions", count(n->repetitions), "suppressed", count(n->suppressed), "bad_lines",
                       count(n->bad_lines), "complete", json_boolean(!n->incomplete), NULL);
    json_object_set_new(summary, "runs", dh_json_number(n->runs));
    return dh_json_object("summary", summary, "processes", processes(r), "programs", programs(r->programs),
                          "counters", run_counters(r->model), NULL);
}

/* ---- Traces -------------------------------------------------------------------------------------------- */

static json_t *detector(const struct dh_print_detector *d)
{
    return dh_json_object("name", json_string(d->name), "guarantee", json_string(d->guarantee), "variables",
                          count(d->variables), "events", count(d->events), "locations", count(d->places),
                          "location_pairs", count(d->pairs), "reports", count(d->reports), "first_event",
                          dh_json_number(d->first_event), "memory", count(d->memory), "given_up",
                          count(d->given_up), "suppressed", count(d->suppressed), "error",
                          dh_json_text(d->error), NULL);
}

static json_t *about_trace(const struct dh_print *p)
{
    const struct dh_print_trace *t = p->about->trace;
    json_t *warnings = json_array(), *detectors = json_array();
    for (size_t i = 0; i < t->n_oddities; i++)
        json_array_append_new(warnings, json_pack("{ss so so}", "what", t->oddities[i].what, "count",
                                                  count(t->oddities[i].count), "first_event",
                                                  count(t->oddities[i].first_event)));
    for (size_t i = 0; i < t->n_detectors; i++)
        json_array_append_new(detectors, detector(&t->detectors[i]));
    json_t *trace =
        dh_json_object("file", dh_json_text(p->about->input), "events", count(t->events), "recorded",
                       count(t->recorded), "threads", count(t->threads), "locks", count(t->locks),
                       "variables", count(t->variables), "warnings", warnings, NULL);
    json_t *summary = dh_json_object("findings", count(t->findings), "known", known(p), "variants",
                                     count(t->variants), "complete", json_boolean(t->complete), NULL);
    return dh_json_object("trace", trace, "seconds", json_real(t->seconds), "detectors", detectors, "summary",
                          summary, NULL);
}

/* ---- Pairs --------------------------------------------------------------------------------------------- */

static json_t *variables(const struct dh_print_static *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_variables; i++) {
        json_t *object = dh_json_location(s->variables[i].variable);
        json_object_set_new(object, "pairs", count(s->variables[i].pairs));
        if (s->variables[i].shown < s->variables[i].n)
            json_object_set_new(object, "findings_in_all", count(s->variables[i].n));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *assumptions(const struct dh_pairs *t)
{
    json_t *list = json_array();
    for (size_t i = 0; i < t->n_assumptions; i++) {
        const struct dh_pairs_assumption *a = &t->assumptions[i];
        json_t *examples = json_array();
        size_t n;
        const u32 *items = dh_pairs_items(t, a->examples, &n);
        for (size_t k = 0; k < n; k++)
            json_array_append_new(examples, dh_json_text(dh_pairs_string(t, items[k])));
        json_array_append_new(list, json_pack("{so so so so}", "name", dh_json_text(a->name), "assumed",
                                              dh_json_text(a->sentence), "count", count(a->count), "examples",
                                              examples));
    }
    return list;
}

static json_t *about_static(const struct dh_print *p)
{
    const struct dh_print_static *s = p->about->pairs;
    const struct dh_pairs *t = s->table;
    json_t *phases = json_array(), *counters = json_object();
    for (size_t i = 0; i < t->n_phases; i++)
        json_array_append_new(phases, json_pack("{so sf so}", "name", dh_json_text(t->phases[i].name),
                                                "seconds", (double)t->phases[i].microseconds * 1e-6,
                                                "peak_kib", count(t->phases[i].peak_kib)));
    for (size_t i = 0; i < t->n_counters; i++)
        json_object_set_new(counters, t->counters[i].name, count(t->counters[i].value));
    json_t *summary = dh_json_object("findings", count(s->findings), "known", known(p), "suppressed",
                                     count(s->suppressed), NULL);
    return dh_json_object("program", dh_json_text(t->program), "producer", dh_json_text(t->producer), "of",
                          json_string(s->of), "style", json_string(s->style), "no_threads",
                          json_boolean(t->no_threads), "pairs", count(s->pairs), "bundles",
                          s->bundled ? count(s->findings) : NULL, "dropped", count(s->dropped), "variables",
                          variables(s), "assumptions", assumptions(t), "phases", phases, "counters", counters,
                          "summary", summary, NULL);
}

/* Rows of a list, or members of an object, whose count is zero. */
static void drop_zeros(json_t *document, const char *member)
{
    json_t *list = json_object_get(document, member), *value;
    const char *key;
    void *next;
    for (size_t i = json_array_size(list); i-- > 0;)
        if (json_integer_value(json_object_get(json_array_get(list, i), "count")) == 0)
            json_array_remove(list, i);
    if (json_is_object(list))
        json_object_foreach_safe(list, next, key, value)
        {
            if (json_integer_value(value) == 0)
                json_object_del(list, key);
        }
}

void dh_json_tables(struct dh_print *p, bool full,
                    void (*print)(FILE *out, const struct dh_print_table *t, const json_t *document))
{
    static const struct dh_print_column assumed[] = {
        {.member = "count", .title = "places"},
        {.member = "name", .title = "name"},
        {.member = "assumed", .title = "assumption"},
    };
    static const struct dh_print_column phases[] = {
        {.member = "name", .title = "phase"},
        {.member = "seconds", .title = "seconds", .decimals = 3},
        {.member = "peak_kib", .title = "MiB", .decimals = 1, .unit = 1024},
    };
    static const struct dh_print_column counters[] = {
        {.member = "value", .title = "number"},
        {.member = "name", .title = "of"},
    };
    static const struct dh_print_table tables[] = {
        {.title = "Assumptions, and the number of places in this program that each applies to",
         .member = "assumptions",
         .columns = assumed,
         .n_columns = DH_ARRAY_LEN(assumed),
         .below = "examples"},
        {.title = "The analysis", .member = "phases", .columns = phases, .n_columns = DH_ARRAY_LEN(phases)},
        {.title = "Its counts",
         .member = "counters",
         .columns = counters,
         .n_columns = DH_ARRAY_LEN(counters)},
    };
    json_t *document = about_static(p);
    if (!full) {
        drop_zeros(document, "assumptions");
        drop_zeros(document, "counters");
    }
    for (size_t i = 0; i < DH_ARRAY_LEN(tables); i++)
        print(p->out, &tables[i], document);
    json_decref(document);
}

/* ---- The document -------------------------------------------------------------------------------------- */

static void json_begin(struct dh_print *p)
{
    const struct dh_print_about *about = p->about;
    fprintf(p->out, "{\"version\":%d", VERSION);
    members(p, json_pack("{ss so}", "command", about->command, "input", dh_json_text(about->input)));
    members(p, about->records ? about_records(p) : about->trace ? about_trace(p) : about_static(p));
    fputs(",\n\"findings\":[", p->out);
}

static void json_end(struct dh_print *p)
{
    const struct dh_baseline_entry *const *unseen;
    size_t n = p->about->baseline ? dh_baseline_unseen(p->about->baseline, &unseen) : 0;
    fputs("]", p->out);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ",\n" : ",\n\"fixed\":[\n", p->out);
        dh_json_write(p, dh_json_object("fingerprint", dh_json_text(unseen[i]->hash), "identity",
                                        dh_json_text(unseen[i]->identity), NULL));
    }
    fputs(n ? "]}\n" : "}\n", p->out);
}

/* ---- One finding per line
 * ---------------------------------------------------------------------------------- */

static void nothing(struct dh_print *p)
{
    (void)p;
}

static void line(struct dh_print *p, const struct dh_finding *f)
{
    dh_json_write(p, dh_json_of_finding(p, f));
    fputc('\n', p->out);
}

const struct dh_print_ops dh_print_as_jsonl = {.begin = nothing, .finding = line, .end = nothing};
const struct dh_print_ops dh_print_as_json = {
    .begin = json_begin, .finding = dh_json_finding, .end = json_end};
