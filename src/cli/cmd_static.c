/*
 * cmd_static.c - `deadheat static`: the statically possible race pairs of a whole program.
 *
 * What the command prints may or may not happen. So its exit status only says whether it could do its work,
 * unlike that of commands that have seen a race.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cc_args.h"
#include "cli/cmd.h"
#include "cli/static.h"
#include "util/output.h"

static const char usage[] =
    "usage: deadheat static [OPTIONS] [COMPILER OPTIONS] SOURCE...\n"
    "       deadheat static [OPTIONS] PROGRAM\n"
    "       deadheat static [OPTIONS] FILE.bc...\n"
    "\n"
    "Prints which pairs of accesses in a program may race, without running it: grouped by variable, with "
    "both\n"
    "source lines, the locks held, the threads, and the reason why each race is considered possible. C and "
    "C++\n"
    "sources are analysed together as one program, compiled with the options given (-I, -D, -std=...); so "
    "are\n"
    "bitcode files (clang-19 -g -emit-llvm -c). A PROGRAM must have been built with 'deadheat cc "
    "--dh-mode=field',\n"
    "which analyses it at link time.\n"
    "\n"
    "  --of=source|binary    for sources: source (default) analyses the code as written, without "
    "optimisation,\n"
    "                        whatever -O says; binary analyses the code that runs: accesses that the\n"
    "                        optimiser removes are in no pair. A program is always a binary\n"
    "  --style=relay|sound   relay (default): pairs without a common lock, few and mostly worth a look;\n"
    "                        sound: every pair that could race\n"
    "  --assume=A,B,...      make further assumptions, and drop pairs that cannot race then (below)\n"
    "  --no-assume=A,B,...   do not make these assumptions of relay: published, owned, exit,\n"
    "                        callbacks and members\n"
    "  --suppressions=FILE   do not show pairs that match, in ThreadSanitizer's syntax\n" DH_CLI_BASELINE_HELP
    "  --explain=PAIR        everything about one pair: P12, its id, or FILE:LINE,FILE:LINE\n"
    "  --summary             only the variables, with their numbers of pairs\n"
    "  --limit=N             at most N pairs per variable and, in JSON, N threads and places of each side "
    "of a\n"
    "                        pair (default: 0, all; with html: 50)\n"
    "  --full-names          show C++ names in full, with default template arguments\n"
    "  --stats               also show the assumptions, and the phases of the analysis with time and memory\n"
    "  --format=FORMAT       text (default), or one of those below\n"
    "  --output=FILE         write there instead of standard output\n"
    "  --color=WHEN          auto (default: on a terminal), always or never\n"
    "\n"
    "Assumptions:\n"
    "  barriers    all threads of a kind take part in a barrier, so it separates what comes before and "
    "after\n"
    "  partition   an index computed from a thread's own number selects that thread's part of an array\n"
    "  published   an object is initialised before other threads can see it\n"
    "  owned       an object taken out of a container under its lock has one owner until it is passed on\n"
    "  exit        other threads have finished when the program ends\n"
    "  callbacks   code outside the program calls functions it is passed before it returns, or never\n"
    "  members     a memory location is a member of one structure: other members, and those of unrelated\n"
    "              structures, are elsewhere\n"
    "  all         all of these\n"
    "\n"
    "Exit status: 0, whether there are pairs or not, since a pair is a candidate and not an observed race; "
    "2\n"
    "for bad usage or input.\n"
    "\n"
    "Examples:\n"
    "  deadheat static -Iinclude main.c queue.c\n"
    "  deadheat cc --dh-mode=field -O2 -pthread -o prog prog.c\n"
    "  deadheat static ./prog\n"
    "  deadheat static --explain=P1 ./prog\n";

enum { HTML_LIMIT = 50 };

struct request {
    enum dh_print_format format;
    const char *color, *explain, *output, *limit;
    bool summary, stats;
    struct dh_cli_baseline baseline;
    struct dh_static_input in;
};

static int one_of(const char *name, const char *value, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(value, words[i]) == 0)
            return (int)i;
    char list[128] = "";
    for (size_t i = 0; i < n; i++) {
        strcat(list, i == 0 ? "" : i + 1 < n ? ", " : " or ");
        strcat(list, words[i]);
    }
    dh_cli_fail("static", "--%s cannot be '%s'; it must be %s", name, value, list);
    return -1;
}

static int set_assumed(struct dh_static *s, const char *option, const char *list, u32 *to)
{
    static const char *const words[] = {"barriers", "partition", "published", "owned",
                                        "exit",     "callbacks", "members",   "all"};
    static const u32 bits[] = {DH_PAIRS_IF_BARRIERS, DH_PAIRS_IF_PARTITION, DH_PAIRS_IF_PUBLISHED,
                               DH_PAIRS_IF_OWNED,    DH_PAIRS_IF_EXIT,      DH_PAIRS_IF_CALLBACKS,
                               DH_PAIRS_IF_MEMBERS,  DH_PAIRS_IFS};
    for (;;) {
        size_t len = strcspn(list, ",");
        int i = one_of(option, dh_arena_dup(&s->arena, list, len), words, DH_ARRAY_LEN(words));
        if (i < 0)
            return DH_EXIT_TROUBLE;
        *to |= bits[i];
        if (!list[len])
            return 0;
        list += len + 1;
    }
}

static int set_style(struct dh_static *s, const char *value)
{
    static const char *const styles[] = {"relay", "sound"};
    int i = one_of("style", value, styles, DH_ARRAY_LEN(styles));
    if (i < 0)
        return DH_EXIT_TROUBLE;
    s->style = styles[i];
    s->set = i ? DH_PAIRS_SOUND : DH_PAIRS_RELAY;
    return 0;
}

static int set_of(struct dh_static *s, struct request *q, const char *value)
{
    static const char *const all[] = {"source", "binary"};
    int i = one_of("of", value, all, DH_ARRAY_LEN(all));
    if (i < 0)
        return DH_EXIT_TROUBLE;
    s->of = i == 0 ? DH_STATIC_SOURCE : DH_STATIC_BINARY;
    q->in.of_given = true;
    return 0;
}

static int set_limit(struct dh_static *s, struct request *q, const char *value)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    if (errno || *end || value[0] < '0' || value[0] > '9')
        return dh_cli_fail("static", "--limit cannot be '%s'; it must be a number, 0 for all", value);
    s->limit = n;
    q->limit = value;
    return 0;
}

static int unknown_flag(const char *arg)
{
    static const char *const names[] = {"--of",           "--style",    "--assume",          "--no-assume",
                                        "--explain",      "--summary",  "--limit",           "--full-names",
                                        "--stats",        "--format",   "--output",          "--color",
                                        "--suppressions", "--baseline", "--update-baseline", "--help"};
    return dh_cli_unknown_flag("static", arg, names, DH_ARRAY_LEN(names));
}

static int set_flag(struct dh_static *s, struct request *q, const char *arg)
{
    static const char *const colors[] = {"auto", "always", "never"};
    const char *v;
    if ((v = dh_cli_value(arg, "of")))
        return set_of(s, q, v);
    if ((v = dh_cli_value(arg, "style")))
        return set_style(s, v);
    if ((v = dh_cli_value(arg, "assume")))
        return set_assumed(s, "assume", v, &s->more);
    if ((v = dh_cli_value(arg, "no-assume")))
        return set_assumed(s, "no-assume", v, &s->less);
    if ((v = dh_cli_value(arg, "limit")))
        return set_limit(s, q, v);
    if ((v = dh_cli_value(arg, "format")))
        return dh_cli_format("static", v, &q->format);
    if ((v = dh_cli_value(arg, "color"))) {
        q->color = v;
        return one_of("color", v, colors, DH_ARRAY_LEN(colors)) < 0 ? DH_EXIT_TROUBLE : 0;
    }
    if ((v = dh_cli_value(arg, "suppressions")))
        return dh_cli_suppressions("static", v, &s->rules);
    if (dh_cli_baseline_flag(&q->baseline, arg))
        return 0;
    if ((v = dh_cli_value(arg, "explain")))
        q->explain = v;
    else if ((v = dh_cli_value(arg, "output")))
        q->output = v;
    else if (strcmp(arg, "--summary") == 0)
        q->summary = true;
    else if (strcmp(arg, "--full-names") == 0)
        s->from.full_names = true;
    else if (strcmp(arg, "--stats") == 0)
        q->stats = true;
    else
        return unknown_flag(arg);
    return 0;
}

/* An option with one dash is for the compiler; its value may be the next argument. Returns the last
 * argument used. */
static int add_option(struct request *q, char **argv, int i, int argc)
{
    q->in.options[q->in.n_options++] = argv[i];
    if (dh_cc_args_takes_value(argv[i]) && i + 1 < argc)
        q->in.options[q->in.n_options++] = argv[++i];
    return i;
}

static int read_arguments(struct dh_static *s, struct request *q, int argc, char **argv)
{
    q->in.files = dh_arena_array(&s->arena, (size_t)argc, sizeof(*q->in.files));
    q->in.options = dh_arena_array(&s->arena, (size_t)argc, sizeof(*q->in.options));
    bool only_files = false;
    for (int i = 1; i < argc; i++) {
        int rc = 0;
        if (!only_files && strcmp(argv[i], "--") == 0)
            only_files = true;
        else if (!only_files && strcmp(argv[i], "--explain") == 0 && i + 1 < argc)
            q->explain = argv[++i];
        else if (!only_files && strncmp(argv[i], "--", 2) == 0)
            rc = set_flag(s, q, argv[i]);
        else if (!only_files && argv[i][0] == '-' && argv[i][1])
            i = add_option(q, argv, i, argc);
        else
            q->in.files[q->in.n_files++] = argv[i];
        if (rc)
            return rc;
    }
    if (q->in.n_files == 0)
        return dh_cli_fail("static", "which program? See 'deadheat static --help'");
    for (size_t i = 0; i < q->in.n_files; i++)
        dh_output_reads(q->in.files[i]);
    dh_output_reads(q->baseline.file);
    if (q->output && dh_output_is_input(q->output)) /* said before the analysis, which may take long */
        return dh_cli_fail("static", "cannot write '%s': this command reads it", q->output);
    if (q->explain && q->baseline.update)
        return dh_cli_fail("static",
                           "--explain is about one pair; it cannot be combined with --update-baseline");
    if (q->explain && q->format != DH_PRINT_TEXT)
        return dh_cli_fail("static", "--explain prints text; it cannot be combined with --format=%s",
                           dh_print_formats[q->format]);
    s->assumed = dh_static_assumed(s, s->set);
    if (q->format == DH_PRINT_HTML && !q->limit)
        s->limit = HTML_LIMIT;
    s->most = s->limit;
    s->input = q->in.n_files == 1
                   ? q->in.files[0]
                   : dh_arena_printf(&s->arena, "%s and %zu more", q->in.files[0], q->in.n_files - 1);
    return 0;
}

/* The file is opened only when there is something to write into it. */
static int write_out(struct dh_static *s, const struct request *q, struct dh_print *p)
{
    struct dh_output to = {0};
    u32 pair = q->explain ? dh_static_find(s, q->explain) : DH_PAIRS_NONE;
    if (q->explain && pair == DH_PAIRS_NONE)
        return DH_EXIT_TROUBLE;
    if (q->output && dh_output_open(&to, &s->arena, q->output) != 0)
        return dh_cli_fail("static", "cannot write '%s': %s", q->output, to.why);
    p->out = q->output ? to.stream : stdout;
    p->color = dh_cli_wants_color(q->color, q->output ? to.fd : STDOUT_FILENO);
    if (q->explain) {
        dh_static_explain(s, p, pair);
    } else {
        s->has_known = dh_print_has_known(q->format);
        dh_static_select(s);
        dh_static_print(s, p, q->summary, q->stats);
    }
    if (q->output && dh_output_commit(&to) != 0)
        return dh_cli_fail("static", "cannot write '%s': %s", q->output, to.why);
    return 0;
}

int dh_cmd_static(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return dh_cli_usage(usage);
        }
    struct dh_static s = {.style = "relay", .set = DH_PAIRS_RELAY};
    struct request q = {.color = "auto", .in.progress = isatty(STDERR_FILENO)};
    struct dh_source source;
    char *cwd = getcwd(NULL, 0);
    dh_source_init(&source, &s.arena);
    dh_map_init(&s.from.names, &s.arena);
    dh_suppress_init(&s.rules, &s.arena);
    int rc = read_arguments(&s, &q, argc, argv);
    if (rc == 0)
        rc = dh_cli_baseline_load("static", &q.baseline);
    s.baseline = q.baseline.is;
    if (rc == 0)
        rc = dh_static_load(&s, &q.in);
    if (rc == 0) {
        struct dh_print p = {.format = q.format, .source = &source, .cwd = cwd};
        s.from.table = s.pairs;
        s.from.arena = &s.arena;
        s.from.set = s.set;
        rc = write_out(&s, &q, &p);
        dh_print_done(&p);
    }
    rc = dh_cli_baseline_end("static", &q.baseline, false, rc);
    dh_pairs_free(s.pairs);
    dh_source_done(&source);
    dh_map_done(&s.from.names);
    dh_static_forget(&s);
    dh_arena_done(&s.arena);
    free(cwd);
    return rc;
}
