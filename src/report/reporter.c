/*
 * reporter.c - see reporter.h. Findings are reported in order of appearance.
 */
#include "report/reporter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/bundle.h"
#include "report/ctest.h"
#include "report/programs.h"
#include "report/record.h"
#include "report/words.h"
#include "util/lines.h"
#include "util/path.h"
#include "util/text.h"

enum { SHOWN_BAD_LINES = 10 }; /* in a file of another kind all lines are bad */

struct dh_reporter {
    struct dh_reporter_options options;
    struct dh_arena arena;
    struct dh_model model;
    struct dh_symbol *symbols;
    struct dh_suppress suppress;
    struct dh_source source;
    struct dh_ctest ctest;
    struct dh_print print;
    struct dh_groups groups;
    struct dh_map seen;  /* group and process -> the group */
    struct dh_map rules; /* file, newline, text -> struct dh_suppress, of processes that bring their own */
    struct dh_reporter_result result;
    const char *input; /* the one being read */
    bool told_bare;    /* has reported that line numbers are missing because of no -g */
    bool unclear;      /* a race has a frame or location that could not be named */
};

/* Prints a line. Sentences quote untrusted names. */
__attribute__((format(printf, 2, 3))) static void say(const struct dh_reporter *r, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        dh_util_no_memory();
    va_end(args);
    dh_text_put(r->options.messages, text);
    fputc('\n', r->options.messages);
    free(text);
}

static void warn(void *ctx, const char *sentence)
{
    struct dh_reporter *r = ctx;
    if (r->options.print)
        say(r, "deadheat: note: %s", sentence);
}

struct complaint {
    const struct dh_reporter *r;
    const char *file;
};

static void complain(void *ctx, u64 line, const char *sentence)
{
    const struct complaint *c = ctx;
    say(c->r, "deadheat: %s:%" PRIu64 ": %s", dh_path_beneath(c->r->print.cwd, c->file), line, sentence);
}

static void load_rules(struct dh_reporter *r, struct dh_suppress *rules, const char *file)
{
    struct complaint about = {r, file};
    u64 bad = 0;
    int rc = dh_suppress_load(rules, file, complain, &about, &bad);
    if (rc)
        say(r, "deadheat: error: cannot read the suppressions %s: %s", file, strerror(-rc));
    r->result.bad_suppressions |= rc != 0;
}

static void complain_of_own(void *ctx, u64 line, const char *sentence)
{
    struct dh_reporter *r = ctx;
    say(r, "deadheat: __tsan_default_suppressions:%" PRIu64 ": %s", line, sentence);
}

struct dh_reporter *dh_reporter_new(const struct dh_reporter_options *options)
{
    struct dh_reporter *r = dh_util_alloc(sizeof(*r));
    memset(r, 0, sizeof(*r));
    r->options = *options;
    r->input = options->input;
    dh_model_init(&r->model, &r->arena);
    dh_groups_init(&r->groups, &r->arena, options->all);
    dh_map_init(&r->seen, &r->arena);
    dh_map_init(&r->rules, &r->arena);
    dh_source_init(&r->source, &r->arena);
    dh_ctest_init(&r->ctest, &r->arena, options->paths);
    dh_suppress_init(&r->suppress, &r->arena);
    r->symbols = dh_symbol_new(&r->arena, warn, r);
    if (options->full_names)
        dh_symbol_full_names(r->symbols);
    dh_symbol_map_paths(r->symbols, options->paths);
    r->model.paths = options->paths;
    if (options->source)
        dh_symbol_use_source(r->symbols, &r->source);
    char *cwd = getcwd(NULL, 0);
    r->print = (struct dh_print){
        .out = options->out,
        .format = options->streaming ? DH_PRINT_TEXT : options->format,
        .source = options->source ? &r->source : NULL,
        .cwd = cwd ? dh_arena_strdup(&r->arena, cwd) : NULL,
        .color = options->color,
        .running = options->streaming,
    };
    free(cwd);
    if (options->own_suppressions)
        dh_suppress_parse(&r->suppress, options->own_suppressions, strlen(options->own_suppressions),
                          complain_of_own, r);
    if (options->suppressions && options->suppressions[0])
        load_rules(r, &r->suppress, options->suppressions);
    return r;
}

/* ---- Grouping ------------------------------------------------------------------------------------------ */

static bool is_unclear(const struct dh_finding *f)
{
    for (int i = 0; i < 2; i++) {
        const struct dh_symbol_frame *top = dh_symbol_top(&f->accesses[i].stack);
        if (!top || !top->file)
            return true;
    }
    return f->location.place == DH_MODEL_UNKNOWN;
}

/* Reports the first relevant frame that has no line although its file is readable. */
static void note_bare(struct dh_reporter *r, const struct dh_model_race *race, const struct dh_finding *f)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(f->accesses) && !r->told_bare; i++) {
        const struct dh_symbol_frame *top = dh_symbol_top(&f->accesses[i].stack);
        const struct dh_model_stack *stack = &race->accesses[i].stack;
        size_t k = 0;
        while (k < stack->n &&
               !(stack->frames[k].module && top && stack->frames[k].module->path == top->module))
            k++;
        if (k == stack->n || top->file || !dh_symbol_in_project(top) ||
            !dh_symbol_is_readable(r->symbols, stack->frames[k].module))
            continue;
        r->told_bare = true;
        warn(r, dh_arena_printf(&r->arena,
                                "there is no debug information for code in %s: compile it with -g to "
                                "see lines and members",
                                top->module));
    }
}

/* A process may come with its own rules, or with its own file. Many have the same ones. */
static void take_suppressions(struct dh_reporter *r, const struct dh_record *record)
{
    const char *file =
        record->file[0] ? dh_path_join(&r->arena, record->process->cwd, record->file) : record->file;
    if (r->options.suppressions && strcmp(file, r->options.suppressions) == 0)
        file = ""; /* that file applies to all anyway */
    const char *key = dh_arena_printf(&r->arena, "%s\n%s", file, record->text);
    struct dh_suppress *rules = dh_map_get(&r->rules, key, strlen(key));
    if (!rules) {
        rules = dh_arena_alloc(&r->arena, sizeof(*rules));
        dh_suppress_init(rules, &r->arena);
        dh_suppress_parse(rules, record->text, strlen(record->text), complain_of_own, r);
        if (file[0])
            load_rules(r, rules, file);
        dh_map_put(&r->rules, key, strlen(key), rules);
    }
    record->process->suppress = rules;
}

/* Is it a reason to fail? */
static bool matters(const struct dh_group *group)
{
    return !group->rule && group->finding->baseline != DH_FINDING_KNOWN;
}

/* Count the process as one in which the race was seen, once. */
static void note_process(struct dh_reporter *r, struct dh_group *group, struct dh_model_process *process)
{
    if (group->run != r->result.runs) {
        group->run = r->result.runs;
        group->finding->runs++;
    }
    const void *key[] = {group, process};
    process->raced |= matters(group);
    if (dh_map_get(&r->seen, key, sizeof(key)))
        return;
    dh_map_put(&r->seen, key, sizeof(key), group);
    group->finding->processes++;
}

/* Written in one piece, because the running program may print to the same terminal. A race with the same
 * cause as one already printed gets a single line; the first with that cause may be in the baseline, and thus
 * not printed. */
static void print_now(struct dh_reporter *r, struct dh_group *group)
{
    struct dh_group *cause = dh_group_cause(group);
    FILE *out = r->print.out;
    char *text = NULL;
    size_t n = 0;
    r->print.out = open_memstream(&text, &n);
    if (!r->print.out)
        dh_util_no_memory();
    if (cause->told) {
        dh_print_variant(&r->print, group->finding, cause->told);
    } else {
        dh_print_finding(&r->print, group->finding);
        cause->told = group->finding;
    }
    if (fclose(r->print.out) != 0)
        dh_util_no_memory();
    r->print.out = out;
    fwrite(text, 1, n, out);
    fflush(out);
    free(text);
}

static void take_race(struct dh_reporter *r, struct dh_model_race *race)
{
    const struct dh_suppress *own = race->process->suppress;
    /* Rules may name a library or its functions. */
    bool brief = r->options.format == DH_PRINT_TEXT && !r->options.resolve && !r->options.n_documents &&
                 !r->suppress.rules && !(own && own->rules);
    struct dh_finding *finding = dh_finding_of_record(&r->arena, r->symbols, race, brief);
    struct dh_suppress_rule *rule = dh_finding_suppressed(finding, &r->suppress);
    if (!rule && own)
        rule = dh_finding_suppressed(finding, own);
    if (!rule)
        dh_baseline_judge(r->options.baseline, finding);
    bool is_new;
    struct dh_group *group = dh_groups_add(&r->groups, finding, rule, &is_new);
    race->owner = group;
    note_process(r, group, race->process);
    if (!is_new)
        return;
    if (rule) {
        rule->hits++;
        return;
    }
    r->unclear |= is_unclear(finding);
    note_bare(r, race, finding);
    if (r->options.print && r->options.streaming && matters(group))
        print_now(r, group);
}

/* A finding that is already symbolised. */
static void take_finding(struct dh_reporter *r, const struct dh_record *record)
{
    struct dh_finding *f = record->finding;
    u64 count = f->count ? f->count : 1;
    struct dh_suppress_rule *rule = dh_finding_suppressed(f, &r->suppress);
    bool is_new;
    if (!rule)
        dh_baseline_judge(r->options.baseline, f);
    struct dh_group *group = dh_groups_add(&r->groups, f, rule, &is_new);
    group->finding->count += count - 1;
    note_process(r, group, record->process);
    for (size_t i = 0; i < record->n_also; i++)
        note_process(r, group, record->also[i]);
    if (rule && is_new)
        rule->hits++;
}

static void bad_line(struct dh_reporter *r, u64 number, const char *why)
{
    if (r->result.bad_lines++ >= SHOWN_BAD_LINES)
        return;
    say(r, "deadheat: %s:%" PRIu64 ": %s", r->input, number, why);
}

void dh_reporter_begin_run(struct dh_reporter *r)
{
    r->result.runs++;
}

u64 dh_reporter_races(const struct dh_reporter *r)
{
    u64 n = 0;
    for (const struct dh_group *g = r->groups.first; g; g = g->next)
        n += matters(g);
    return n;
}

bool dh_reporter_take(struct dh_reporter *r, const char *text, size_t len, u64 number)
{
    struct dh_record record;
    struct dh_record_error err;
    if (dh_record_read(&r->model, text, len, &record, &err) != 0) {
        bad_line(r, number, err.text);
        return false;
    }
    if (record.type == DH_RECORD_RACE)
        take_race(r, record.race);
    else if (record.type == DH_RECORD_REPEAT)
        ((struct dh_group *)record.race->owner)->finding->count += record.count;
    else if (record.type == DH_RECORD_FINDING)
        take_finding(r, &record);
    else if (record.type == DH_RECORD_SOURCE)
        dh_source_add(&r->source, dh_path_mapped(&r->arena, r->options.paths, record.file), (int)record.count,
                      record.text);
    else if (record.type == DH_RECORD_SUPPRESSIONS)
        take_suppressions(r, &record);
    else if (record.type == DH_RECORD_UNSAVED)
        r->result.unsaved = true;
    else if (record.type == DH_RECORD_PROCESS && !record.process->test[0])
        record.process->test = dh_ctest_name(&r->ctest, &record.process->ctest);
    return record.type == DH_RECORD_RACE && matters(record.race->owner) &&
           !dh_baseline_is_updated(r->options.baseline);
}

int dh_reporter_read(struct dh_reporter *r, int fd, const char *input)
{
    struct dh_lines lines;
    const char *text;
    size_t len;
    int rc = 0;
    r->input = input;
    dh_lines_init(&lines, fd);
    for (bool more = true; more;) {
        switch (dh_lines_next(&lines, &text, &len)) {
        case DH_LINES_OK:
        case DH_LINES_CUT:
            dh_reporter_take(r, text, len, lines.number);
            break;
        case DH_LINES_TOO_LONG:
            bad_line(r, lines.number, "the line is too long for a record");
            break;
        case DH_LINES_ERROR:
            rc = -errno;
            more = false;
            break;
        case DH_LINES_END:
            more = false;
            break;
        }
    }
    dh_lines_done(&lines);
    return rc;
}

/* ---- The end ---------------------------------------------------------------------------------------------
 */

static const struct {
    const char *name, *help;
} counters[] = {
#define DH_COUNTER(name, help) {#name, help},
#include "event/counters.def"
#undef DH_COUNTER
};

static void print_counters(struct dh_reporter *r)
{
    FILE *f = r->options.messages;
    const char *before = "deadheat: what could not be seen: ";
    for (size_t i = 0; i < DH_ARRAY_LEN(counters); i++) {
        u64 n = dh_model_counter(&r->model, counters[i].name);
        if (strncmp(counters[i].name, "LOST_", 5) != 0 || n == 0)
            continue;
        fprintf(f, "%s%" PRIu64 " %s", before, n, counters[i].help);
        before = "; ";
    }
    if (before[0] == ';')
        fputc('\n', f);
    u64 blind = dh_model_counter(&r->model, "BLIND_MODULES");
    if (blind && (r->options.stats || r->unclear))
        fprintf(
            f, "deadheat: accesses inside %" PRIu64 " loaded module%s not compiled by deadheat went unseen\n",
            blind, blind == 1 ? "" : "s");
    /* A running program prints its own. */
    for (size_t i = 0; r->options.stats && !r->options.streaming && i < DH_ARRAY_LEN(counters); i++)
        fprintf(f, "deadheat: %10" PRIu64 "  %s\n", dh_model_counter(&r->model, counters[i].name),
                counters[i].help);
    u64 collections = dh_model_counter(&r->model, "COLLECTIONS"),
        ms = dh_model_counter(&r->model, "MILLISECONDS");
    if (r->options.stats && !r->options.streaming && collections > 1 && ms && collections * 1000 > ms)
        fprintf(f, "deadheat: the collector of access ids ran %.1f times a second\n",
                (double)collections * 1000 / (double)ms);
}

static double percent(u64 part, u64 whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* A sampled run says little about what it did not find. */
static void print_sample(struct dh_reporter *r)
{
    const struct dh_model *m = &r->model;
    u64 periods = dh_model_counter(m, "PERIODS"), us = dh_model_counter(m, "SAMPLED_OF_US");
    if (!us)
        return;
    fprintf(r->options.messages,
            "deadheat: this run was sampled: %" PRIu64
            " period%s, %.2f%% of the time, %.2f%% of the work; more races may have gone unseen\n",
            periods, periods == 1 ? "" : "s", percent(dh_model_counter(m, "SAMPLED_US"), us),
            percent(dh_model_counter(m, "SAMPLED_WORK"), dh_model_counter(m, "SAMPLED_OF_WORK")));
}

/* Nor does one in which checks were skipped. */
static void print_filter(struct dh_reporter *r)
{
    const struct dh_model *m = &r->model;
    u64 all = dh_model_counter(m, "FILTERABLE");
    if (!all)
        return;
    fprintf(r->options.messages,
            "deadheat: of %" PRIu64 " checks, the filter skipped %" PRIu64
            " that cannot find anything, and %" PRIu64
            " on the assumption that memory that has not escaped so far does not escape now\n",
            all, dh_model_counter(m, "FILTERED_SAFE"), dh_model_counter(m, "FILTERED_UNESCAPED"));
}

/* The program need not be named if only one process ran, of the requested program. */
static void print_programs(struct dh_reporter *r)
{
    const struct dh_program *first = dh_programs_list(&r->arena, &r->model);
    bool other = first && r->options.program && strcmp(first->exe, r->options.program) != 0;
    if (first && (first->next || first->processes > 1 || other))
        dh_programs_print(r->options.messages, r->print.cwd, first);
}

/* The result without what is in the baseline. */
static struct dh_reporter_result without_known(const struct dh_reporter *r)
{
    struct dh_reporter_result n = r->result;
    n.races -= n.known;
    n.variants = n.repetitions = 0;
    for (struct dh_group *g = r->groups.first; g; g = g->next) {
        if (!matters(dh_group_cause(g)))
            continue;
        n.variants++;
        n.repetitions += g->finding->count - 1;
    }
    return n;
}

static void print_summary(struct dh_reporter *r)
{
    const struct dh_reporter_result told = without_known(r), *n = &told;
    FILE *f = r->options.messages;
    if (n->races || n->suppressed) {
        fprintf(f, "deadheat: %" PRIu64 " data race%s", n->races, n->races == 1 ? "" : "s");
        if (n->variants > n->races)
            fprintf(f, " (%" PRIu64 " variants", n->variants);
        if (n->repetitions)
            fprintf(f, "%s%" PRIu64 " repetition%s", n->variants > n->races ? ", " : " (", n->repetitions,
                    n->repetitions == 1 ? "" : "s");
        if (n->variants > n->races || n->repetitions)
            fputc(')', f);
        if (n->suppressed)
            fprintf(f, ", %" PRIu64 " suppressed", n->suppressed);
        fputc('\n', f);
    } else if (!r->options.streaming && ((!n->incomplete && !n->bad_lines) || r->options.stats)) {
        fprintf(f,
                n->runs ? "deadheat: no %sdata races in %" PRIu64 " run%s\n" : "deadheat: no %sdata races\n",
                n->known ? "new " : "", n->runs, dh_words_plural(n->runs));
    }
    if (n->known)
        fprintf(f, "deadheat: %s\n", dh_words_known(&r->print, n->known));
    dh_words_put_unseen(&r->print, f, r->options.baseline, "deadheat: ");
    if (r->options.streaming && n->races && n->repetitions) {
        for (const struct dh_group *g = r->groups.first; g; g = g->next) {
            if (matters(g) && g->finding->count > 1)
                dh_print_repeated(&r->print, f, g->finding);
        }
    }
    if (n->races)
        print_programs(r);
    for (const struct dh_suppress_rule *rule = r->suppress.rules; r->options.stats && rule; rule = rule->next)
        say(r, "deadheat: %s:%" PRIu64 ": %s suppressed %" PRIu64,
            dh_path_beneath(r->print.cwd, r->options.suppressions), rule->line, rule->pattern, rule->hits);
    print_sample(r);
    print_filter(r);
    print_counters(r);
}

/* Prints everything, once all input has been read. */
static void print_document(struct dh_reporter *r)
{
    const struct dh_print_records records = {
        .model = &r->model,
        .programs = dh_programs_list(&r->arena, &r->model),
        .result = &r->result,
        .ends = !r->options.streaming,
    };
    const struct dh_print_about about = {.command = r->options.command ? r->options.command : "report",
                                         .input = r->options.input,
                                         .records = &records,
                                         .baseline = r->options.baseline,
                                         .known = r->result.known};
    dh_print_begin(&r->print, &about);
    for (const struct dh_group *g = r->groups.first; g; g = g->next) {
        if (!g->rule && !g->cause)
            dh_print_finding(&r->print, g->finding);
    }
    dh_print_end(&r->print);
}

/* A file shows the absence of races only if it has a process, with complete records. */
static void judge_completeness(struct dh_reporter *r)
{
    u64 all = 0, open = 0;
    const struct dh_model_process *first = NULL;
    for (const struct dh_model_process *p = r->model.process; p; p = p->next) {
        all += p->announced;
        open += p->announced && !p->ended;
        first = p->announced && !p->ended ? p : first;
    }
    r->result.processes = all;
    r->result.incomplete = all == 0 || (open > 0 && !r->options.streaming);
    if (r->options.streaming || !r->options.print)
        return;
    if (r->result.bad_lines > SHOWN_BAD_LINES)
        say(r, "deadheat: %s: %" PRIu64 " lines in all are no race records", r->options.input,
            r->result.bad_lines);
    if (all == 0 && !r->groups.first)
        say(r, "deadheat: %s: no process is recorded in it, so it does not tell whether there are races",
            r->options.input);
    else if (open)
        say(r,
            "deadheat: %s: process %" PRIu64
            " (%s)%s did not run to its end: killed, or still running; what it "
            "did after its last record is not known",
            r->options.input, first->pid, first->exe[0] ? first->exe : "?",
            open > 1 ? dh_arena_printf(&r->arena, " and %" PRIu64 " more", open - 1) : "");
}

/* From the first process that requests one; the list begins with the last process. */
static void judge_status(struct dh_reporter *r)
{
    for (const struct dh_model_process *p = r->model.process; p; p = p->next) {
        u64 status = p->decided ? p->status : r->options.exitcode;
        if (p->raced && status && !dh_baseline_is_updated(r->options.baseline))
            r->result.status = status;
    }
}

/* Called when variants are attached to their findings. */
static void count_known(struct dh_reporter *r)
{
    for (struct dh_group *g = r->groups.first; g; g = g->next) {
        if (g->rule || g->cause)
            continue;
        dh_baseline_judge(r->options.baseline, g->finding);
        r->result.known += g->finding->baseline == DH_FINDING_KNOWN;
    }
}

void dh_reporter_finish(struct dh_reporter *r, struct dh_reporter_result *ret)
{
    judge_completeness(r);
    judge_status(r);
    dh_groups_settle(&r->groups);
    count_known(r);
    r->result.races = r->groups.findings;
    r->result.variants = r->groups.variants;
    r->result.suppressed = r->groups.suppressed;
    r->result.repetitions = r->groups.repetitions;
    if (r->options.resolve)
        dh_bundle_write(r->options.out, &r->model, &r->groups, &r->seen,
                        r->options.source ? &r->source : NULL);
    else if (r->options.print && !r->options.streaming)
        print_document(r);
    fflush(r->options.out);
    if (r->options.print)
        print_summary(r);
    for (size_t i = 0; i < r->options.n_documents; i++) {
        const struct dh_reporter_document *d = &r->options.documents[i];
        dh_print_done(&r->print);
        r->print = (struct dh_print){
            .out = d->out, .format = d->format, .source = r->print.source, .cwd = r->print.cwd};
        print_document(r);
        fflush(d->out);
    }
    fflush(r->options.messages);
    *ret = r->result;
    dh_print_done(&r->print);
    dh_symbol_free(r->symbols);
    dh_source_done(&r->source);
    dh_ctest_done(&r->ctest);
    dh_groups_done(&r->groups);
    dh_map_done(&r->seen);
    dh_map_done(&r->rules);
    dh_model_done(&r->model);
    dh_arena_done(&r->arena);
    free(r);
}
