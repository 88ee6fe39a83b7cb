/*
 * cmd_trace.c - `deadheat trace info|cat|convert`: traces are shown, filtered, and converted to another
 * format.
 *
 * Names in filters are looked up when an event uses them, not before: a name that never occurs selects
 * nothing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/trace_in.h"
#include "cli/trace_out.h"
#include "report/table.h"
#include "util/arena.h"
#include "util/output.h"
#include "util/text.h"

static const char usage[] =
    "usage: deadheat trace info [--format=text|json] TRACE\n"
    "       deadheat trace cat [FILTERS] TRACE\n"
    "       deadheat trace convert [FILTERS] -o FILE TRACE\n"
    "\n"
    "info counts what is in a trace and lists anything unusual about it; cat prints its events, numbered; "
    "convert\n"
    "writes it to FILE: as text in the STD format, or in binary if the name of FILE ends in .dht. Traces "
    "are\n"
    "recordings or text in the STD format ('-': text from standard input or to standard output).\n"
    "\n"
    "Filters (an event must pass all that are given):\n"
    "  --thread=A,B,...      by one of these threads\n"
    "  --variable=A,B,...    an access to one of these variables\n"
    "  --range=FROM-TO       events FROM to TO, counted from 1; either end may be omitted\n"
    "\n"
    "Exit status: 0, or 2 for bad usage or input.\n"
    "\n"
    "Example:\n"
    "  deadheat trace cat --thread=T1,T2 --range=1000-2000 trace.std\n";

enum verb { INFO, CAT, CONVERT };

struct request {
    enum verb verb;
    const char *file;
    const char *output;
    const char *threads, *variables; /* as given: comma-separated names; NULL: all */
    u64 from, to;                    /* from 1 */
    bool json;
    struct dh_trace_in in;
    u64 ops[DH_OP_COUNT];
    u64 unwritten;               /* events that the format cannot express */
    struct dh_trace_out *binary; /* what convert writes; NULL: text */
};

static bool listed(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (;;) {
        size_t n = strcspn(list, ",");
        if (n == len && memcmp(list, name, n) == 0)
            return true;
        if (!list[n])
            return false;
        list += n + 1;
    }
}

static bool passes(struct request *q, const struct dh_event *e, u64 number)
{
    if (number < q->from || number > q->to)
        return false;
    if (q->threads && !listed(q->threads, dh_trace_in_thread(&q->in, e->thread)))
        return false;
    return !q->variables || (dh_event_is_access(e) && listed(q->variables, dh_trace_in_target(&q->in, e)));
}

static const char *op_name(u32 op)
{
    static const char *const names[DH_OP_COUNT] = {
        [DH_OP_READ] = "read",
        [DH_OP_WRITE] = "write",
        [DH_OP_ACQUIRE] = "acquire",
        [DH_OP_RELEASE] = "release",
        [DH_OP_FORK] = "fork",
        [DH_OP_JOIN] = "join",
        [DH_OP_BRANCH] = "branch",
        [DH_OP_BLOCK_BEGIN] = "begin",
        [DH_OP_BLOCK_END] = "end",
        [DH_OP_BEGIN] = "thread-begin",
        [DH_OP_END] = "thread-end",
        [DH_OP_VOLATILE] = "volatile",
        [DH_OP_ATOMIC_LOAD] = "atomic-load",
        [DH_OP_ATOMIC_STORE] = "atomic-store",
        [DH_OP_ATOMIC_RMW] = "atomic-rmw",
        [DH_OP_FENCE] = "fence",
        [DH_OP_BARRIER_ENTER] = "barrier-enter",
        [DH_OP_BARRIER_LEAVE] = "barrier-leave",
        [DH_OP_NOTIFY] = "notify",
        [DH_OP_WAIT] = "wait",
        [DH_OP_RANGE_NEW] = "new",
        [DH_OP_RANGE_FREE] = "free",
        [DH_OP_RANGE_MOVE] = "move",
        [DH_OP_RANGE_COPY] = "copy",
    };
    return names[op] ? names[op] : "other";
}

/* An event of a recording, which may be one that STD cannot express, at a place in the program. */
static int print_event(struct request *q, const struct dh_event *e, u64 number, FILE *out)
{
    bool sync = e->op == DH_OP_ACQUIRE || e->op == DH_OP_RELEASE;
    const char *more = sync && e->mode == DH_SHARED                      ? "-shared"
                       : dh_event_is_check(e)                            ? "-checked"
                       : dh_event_is_access(e) && (e->mode & DH_ATOMIC)  ? "-atomic"
                       : e->op == DH_OP_VOLATILE && (e->mode & DH_WRITE) ? "-write"
                       : e->op == DH_OP_VOLATILE                         ? "-read"
                                                                         : "";
    bool placed = e->op != DH_OP_RANGE_NEW && e->op != DH_OP_RANGE_MOVE && e->op != DH_OP_RANGE_COPY;
    fprintf(out, "%" PRIu64 "\t", number);
    dh_text_put(out, dh_trace_in_thread(&q->in, e->thread));
    fprintf(out, "|%s%s(", op_name(e->op), more);
    dh_text_put(out, dh_trace_in_target(&q->in, e));
    fputs(")|", out);
    dh_text_put(out, placed ? dh_trace_in_site(&q->in, e->site) : "");
    return fputc('\n', out) == EOF || ferror(out) ? -EIO : 0;
}

/* 0 or a negative errno, for binary output; text output keeps its own (util/output.h). */
static int write_event(struct request *q, const struct dh_event *e, u64 number, FILE *out)
{
    static char line[2 << 20]; /* two names of a line the reader took */
    if (q->binary) {
        int rc = dh_trace_out_event(q->binary, e);
        q->unwritten += rc > 0;
        return rc < 0 ? rc : 0;
    }
    if (q->verb == CAT && q->in.dht)
        return print_event(q, e, number, out);
    long n = dh_std_format(e, dh_trace_in_thread(&q->in, e->thread), dh_trace_in_target(&q->in, e), line,
                           sizeof(line));
    if (n <= 0) {
        q->unwritten++;
        return 0;
    }
    if (q->verb == CAT) {
        fprintf(out, "%" PRIu64 "\t", number);
        dh_text_tame(line, (size_t)n - 1); /* for people; convert writes names unchanged */
    }
    return fwrite(line, 1, (size_t)n, out) == (size_t)n ? 0 : -EIO;
}

/* The names of things, after the events. */
static int write_names(struct request *q)
{
    struct dh_trace_in_counts n = dh_trace_in_counts(&q->in);
    int rc = 0;
    for (u32 i = 0; i < n.threads && !rc; i++)
        rc = dh_trace_out_name(q->binary, 't', i, dh_trace_in_thread(&q->in, i));
    for (u32 i = 0; i < n.locks && !rc; i++)
        rc = dh_trace_out_name(q->binary, 'l', i, dh_trace_in_lock(&q->in, i));
    for (u32 i = 0; i < n.variables && !rc; i++)
        rc = dh_trace_out_name(q->binary, 'v', i, dh_trace_in_variable(&q->in, i));
    return rc ? rc : dh_trace_out_end(q->binary);
}

static void print_info(const struct request *q)
{
    static const struct dh_print_column facts[] = {
        {.member = "events", .title = "events"},
        {.member = "threads", .title = "threads"},
        {.member = "locks", .title = "locks"},
        {.member = "variables", .title = "variables"},
        {.member = "stored", .title = "events stored"},
        {.member = "chunks", .title = "chunks"},
        {.member = "bytes", .title = "bytes"},
        {.member = "bytes_per_event", .title = "bytes an event", .decimals = 2},
    };
    static const struct dh_print_column columns[] = {
        {.member = "name", .title = "operation"},
        {.member = "value", .title = "events"},
    };
    static const struct dh_print_table operations = {
        .member = "operations", .columns = columns, .n_columns = DH_ARRAY_LEN(columns)};
    const struct dh_print_tables about = {.subject = q->in.shown,
                                          .facts = facts,
                                          .n_facts = DH_ARRAY_LEN(facts),
                                          .tables = &operations,
                                          .n_tables = 1};
    const struct dh_form *form = dh_trace_in_form(&q->in);
    struct dh_trace_in_counts n = dh_trace_in_counts(&q->in);
    json_t *ops = json_object(), *warnings = json_array();
    for (u32 op = 0; op < DH_OP_COUNT; op++) {
        if (q->ops[op])
            json_object_set_new(ops, op_name(op), json_integer((json_int_t)q->ops[op]));
    }
    for (u32 w = 0; w < DH_FORM_WARNINGS; w++) {
        if (form->warnings[w])
            json_array_append_new(warnings, json_pack("{s:s, s:I, s:I}", "what", dh_form_warning_text(w),
                                                      "count", (json_int_t)form->warnings[w], "first_event",
                                                      (json_int_t)form->first[w] + 1));
    }
    json_t *document = json_pack("{s:i, s:I, s:i, s:i, s:i, s:o, s:o}", "version", 1, "events",
                                 (json_int_t)q->in.events, "threads", (int)n.threads, "locks", (int)n.locks,
                                 "variables", (int)n.variables, "operations", ops, "warnings", warnings);
    if (!document)
        dh_util_no_memory();
    if (q->in.dht) {
        struct dh_dht_stats d;
        dh_dht_stats(q->in.dht, &d);
        json_object_update_new(document,
                               json_pack("{s:I, s:I, s:I, s:f}", "stored", (json_int_t)d.stored, "chunks",
                                         (json_int_t)d.chunks, "bytes", (json_int_t)d.size, "bytes_per_event",
                                         d.stored ? (double)d.size / (double)d.stored : 0.0));
    }
    dh_print_tables(stdout, q->json ? "json" : "text", &about, document);
    json_decref(document);
    if (!q->json) {
        fflush(stdout);
        dh_trace_in_warn(&q->in);
    }
}

static int go_through(struct request *q, FILE *out)
{
    static struct dh_event batch[4096];
    u64 number = 0;
    long n;
    while ((n = dh_trace_in_read(&q->in, batch, DH_ARRAY_LEN(batch))) > 0) {
        for (long i = 0; i < n; i++) {
            const struct dh_event *e = &batch[i];
            q->ops[e->op]++;
            if (!passes(q, e, ++number) || q->verb == INFO)
                continue;
            int rc = write_event(q, e, number, out);
            if (rc && q->binary)
                return dh_cli_fail("trace", "cannot write %s: %s", q->output, strerror(-rc));
            if (rc)
                return 0; /* closing the output reports the error */
        }
    }
    return n < 0 ? DH_EXIT_TROUBLE : 0;
}

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

static int finish(struct request *q)
{
    if (q->verb == INFO)
        print_info(q);
    if (q->unwritten)
        fprintf(stderr,
                "deadheat trace: warning: %" PRIu64 " events cannot be represented in %s and were omitted\n",
                q->unwritten, ends_in(q->output ? q->output : "", ".dht") ? "a trace of names" : "STD");
    return 0;
}

/* All of it into a file. */
static int convert(struct request *q, struct dh_output *to)
{
    int error = ends_in(q->output, ".dht") ? dh_trace_out_new(&q->binary, to->fd) : 0;
    int rc = error ? 0 : go_through(q, to->stream);
    if (!rc && !error && q->binary)
        error = write_names(q);
    dh_trace_out_free(q->binary);
    if (error)
        rc = dh_cli_fail("trace", "cannot write %s: %s", q->output, strerror(-error));
    if (rc)
        dh_output_abandon(to, false);
    else if (dh_output_commit(to) != 0)
        rc = dh_cli_fail("trace", "cannot write %s: %s", q->output, to->why);
    return rc;
}

static int run(struct request *q)
{
    static struct dh_output to;
    struct dh_arena arena = {0};
    bool to_file = q->verb == CONVERT && strcmp(q->output, "-") != 0;
    int rc = dh_trace_in_open(&q->in, "trace", q->file);
    if (rc)
        return rc;
    if (!to_file && q->verb != INFO && dh_output_is_standard(q->file))
        rc = dh_cli_fail("trace", "standard output is %s, which is the trace that is read", q->in.shown);
    else if (to_file && dh_output_open(&to, &arena, q->output) != 0)
        rc = dh_cli_fail("trace", "cannot write %s: %s", q->output, to.why);
    else
        rc = to_file ? convert(q, &to) : go_through(q, stdout);
    if (!rc)
        rc = finish(q);
    dh_trace_in_close(&q->in);
    dh_arena_done(&arena);
    return rc;
}

static int set_range(struct request *q, const char *v)
{
    char *end = (char *)v;
    if (*v != '-')
        q->from = strtoull(v, &end, 10);
    if (*end != '-' || (*v != '-' && (*v < '0' || *v > '9')))
        return dh_cli_fail("trace", "--range cannot be '%s'; it must be FROM-TO", v);
    v = end + 1;
    if (*v) {
        q->to = strtoull(v, &end, 10);
        if (*end || *v < '0' || *v > '9')
            return dh_cli_fail("trace", "--range must end in a number or '-'");
    }
    return 0;
}

static int set_flag(struct request *q, const char *arg)
{
    static const char *const names[] = {"--thread", "--variable", "--range", "--format", "--help"};
    const char *v;
    if (q->verb == INFO && (v = dh_cli_value(arg, "format"))) {
        q->json = strcmp(v, "json") == 0;
        if (!q->json && strcmp(v, "text") != 0)
            return dh_cli_fail("trace", "--format cannot be '%s'; it must be text or json", v);
    } else if (q->verb != INFO && (v = dh_cli_value(arg, "thread"))) {
        q->threads = v;
    } else if (q->verb != INFO && (v = dh_cli_value(arg, "variable"))) {
        q->variables = v;
    } else if (q->verb != INFO && (v = dh_cli_value(arg, "range"))) {
        return set_range(q, v);
    } else {
        const char *nearest = dh_cli_nearest(arg, strcspn(arg, "="), names, DH_ARRAY_LEN(names));
        if (nearest && strncmp(arg, nearest, strlen(nearest)) != 0)
            return dh_cli_fail("trace", "unknown option '%s'; did you mean '%s'?", arg, nearest);
        return dh_cli_fail("trace", "option '%s' does not fit here; see 'deadheat trace --help'", arg);
    }
    return 0;
}

static int set_verb(struct request *q, const char *word)
{
    static const char *const verbs[] = {[INFO] = "info", [CAT] = "cat", [CONVERT] = "convert"};
    for (u32 i = 0; i < DH_ARRAY_LEN(verbs); i++) {
        if (strcmp(word, verbs[i]) == 0) {
            q->verb = (enum verb)i;
            return 0;
        }
    }
    return dh_cli_fail("trace", "info, cat or convert, not '%s'; see 'deadheat trace --help'", word);
}

int dh_cmd_trace(int argc, char **argv)
{
    static struct request q = {.from = 1, .to = UINT64_MAX};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return 0;
        }
    }
    if (argc < 2)
        return dh_cli_fail("trace", "info, cat or convert? See 'deadheat trace --help'");
    int rc = set_verb(&q, argv[1]);
    for (int i = 2; i < argc && !rc; i++) {
        const char *arg = argv[i];
        if (q.verb == CONVERT && strcmp(arg, "-o") == 0) {
            if (++i == argc)
                return dh_cli_fail("trace", "-o needs a file");
            q.output = argv[i];
        } else if (arg[0] == '-' && arg[1]) {
            rc = set_flag(&q, arg);
        } else if (q.file) {
            rc = dh_cli_fail("trace", "one trace at a time: '%s' and '%s'", q.file, arg);
        } else {
            q.file = arg;
        }
    }
    if (rc)
        return rc;
    if (!q.file)
        return dh_cli_fail("trace", "which trace? See 'deadheat trace --help'");
    if (q.verb == CONVERT && !q.output)
        return dh_cli_fail("trace", "where to? Give -o FILE");
    return run(&q);
}
