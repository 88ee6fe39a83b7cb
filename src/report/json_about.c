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
           json_pack("{sI sI sI sI sb}", "findings", (json_int_t)n->races, "repetitions",
                     (json_int_t)n->repetitions, "suppressed", (json_int_t)n->suppressed, "bad_lines",
                     (json_int_t)n->bad_lines, "complete", !n->incomplete));
    member(p, "processes", processes(r->model));
    member(p, "programs", programs(r->programs));
    member(p, "counters", run_counters(r->model));
}

/* ---- The document -------------------------------------------------------------------------------------- */

static void json_begin(struct dh_print *p)
{
    fprintf(p->out, "{\"version\":%d", VERSION);
    member(p, "command", json_string(p->about->command));
    member(p, "input", dh_json_text(p->about->input));
    fputs(",\n\"findings\":[", p->out);
}

static void json_section(struct dh_print *p, const struct dh_print_section *s)
{
    (void)p;
    (void)s;
}

static void json_end(struct dh_print *p)
{
    fputs("]", p->out);
    if (p->about->records)
        end_records(p, p->about->records);
    fputs("}\n", p->out);
}

const struct dh_print_ops dh_print_as_json = {json_begin, json_section, dh_json_finding, json_section,
                                              json_end};
