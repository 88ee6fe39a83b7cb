/*
 * cmd_pipeline.c - `deadheat pipeline`: static pairs, Caper, inference, chase and steering, one after
 * another, within a time limit, and one page at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/chase.h"
#include "cli/cmd.h"
#include "cli/pipeline.h"
#include "util/output.h"
#include "util/path.h"
#include "util/text.h"

static const char usage[] =
    "usage: deadheat pipeline [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Finds the races of a program that was built with 'deadheat cc --dh-mode=caper', in stages, each of "
    "which works\n"
    "on what the previous one left: the pairs found by the static analysis; Caper, over runs of the "
    "program until\n"
    "nothing new is found; inference, which finds out which accesses meet (two at the same time are a "
    "race); a\n"
    "chase of these pairs; and steering, of confirmed races to see what follows, and of the others. At the "
    "end it\n"
    "prints the confirmed races, with stacks, consequences, and a command that reproduces each; the pairs "
    "that "
    "are\n"
    "still possible; those that did not race in any run, and why; and those that the chase did not get to. "
    "The program\n"
    "must end, by itself or through --client, and do the same in each run.\n"
    "\n"
    "  --budget=TIME    total time: 90s, 10m (default), 8h\n"
    "  --state=DIR      where results are kept, to continue later (default: PROGRAM.pipeline here)\n"
    "  --steady=N       Caper ends after this many runs without anything new (default: 3)\n"
    "  --client=COMMAND a shell command that sends work to a server: it is started with the program, and "
    "when it\n"
    "                   ends, the program gets SIGTERM\n"
    "  --format=FORMAT  of the page: text (default), json or html\n"
    "  --output=FILE    write it there instead of standard output\n"
    "  --help           this text\n"
    "\n"
    "A pipeline that was killed continues from its state, with a new budget. The program's standard output "
    "is\n"
    "discarded. Its standard input should be a file, which each run reads from the same place: a pipe can be "
    "read\n"
    "only once.\n"
    "\n"
    "Exit status: 66 if a race was confirmed, otherwise 0; 2 for bad usage or input.\n"
    "\n"
    "Examples:\n"
    "  deadheat cc --dh-mode=caper -g -O2 -pthread -o prog prog.c\n"
    "  deadheat pipeline --budget=5m -- ./prog\n"
    "  deadheat pipeline --budget=1h --format=html --output=prog.html -- ./prog\n";

struct request {
    const char *state, *output, *client;
    enum dh_print_format format;
    u64 budget_us, steady;
};

const char *dh_pipeline_file(struct dh_pipeline *p, const char *name)
{
    return dh_arena_printf(&p->arena, "%s/%s", p->dir, name);
}

u64 dh_pipeline_now(void)
{
    return dh_chase_now_us();
}

u64 dh_pipeline_spent(const struct dh_pipeline *p)
{
    return p->earlier_us + dh_pipeline_now() - p->start_us;
}

static int set_flag(void *request, char **argv, int *i)
{
    struct request *q = request;
    static const char *const names[] = {"--budget", "--state",  "--steady", "--client",
                                        "--format", "--output", "--help"};
    const char *arg = argv[*i], *v;
    char *end;
    if ((v = dh_cli_value(arg, "budget"))) {
        if (!dh_cli_budget(v, &q->budget_us))
            return dh_cli_fail(
                "pipeline",
                "--budget cannot be '%s'; it must be a time from a second on, such as 90s, 10m or 8h", v);
    } else if ((v = dh_cli_value(arg, "steady"))) {
        q->steady = strtoull(v, &end, 10);
        if (*end || v[0] < '1' || v[0] > '9' || q->steady > 1000000)
            return dh_cli_fail("pipeline", "--steady cannot be '%s'; it must be a number from 1 on", v);
    } else if ((v = dh_cli_value(arg, "format"))) {
        int rc = dh_cli_format("pipeline", v, &q->format);
        if (!rc && q->format != DH_PRINT_TEXT && q->format != DH_PRINT_JSON && q->format != DH_PRINT_HTML)
            rc = dh_cli_fail("pipeline", "--format must be text, json or html");
        return rc;
    } else if ((v = dh_cli_argument(argv, i, "state"))) {
        q->state = v;
    } else if ((v = dh_cli_value(arg, "client"))) {
        q->client = v;
        dh_cli_client_set(v);
    } else if ((v = dh_cli_value(arg, "output"))) {
        q->output = v;
    } else {
        return dh_cli_unknown_flag("pipeline", arg, names, DH_ARRAY_LEN(names));
    }
    return 0;
}

/* ---- The directory ---- */

/* Creates it, and locks it: *ret_lock is a descriptor to close. */
static int open_directory(struct dh_pipeline *p, int *ret_lock)
{
    if (mkdir(p->dir, 0777) != 0 && errno != EEXIST)
        return dh_cli_fail("pipeline", "cannot make the directory '%s': %s", p->dir, strerror(errno));
    int fd = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return dh_cli_fail("pipeline", "cannot use the directory '%s': %s", p->dir, strerror(errno));
    if (!dh_output_lock(fd)) {
        close(fd);
        return dh_cli_fail("pipeline", "another 'deadheat pipeline' works in '%s'", p->dir);
    }
    *ret_lock = fd;
    return 0;
}

/* Opening a pipe instead of a file would block. */
static int check_files(struct dh_pipeline *p)
{
    static const char *const names[] = {"caper", "chase", "pairs.json", "pipeline.json", "races.jsonl"};
    struct stat st;
    for (size_t i = 0; i < DH_ARRAY_LEN(names); i++)
        if (stat(dh_pipeline_file(p, names[i]), &st) == 0 && !S_ISREG(st.st_mode))
            return dh_cli_fail("pipeline",
                               "cannot go on with '%s': its %s is no regular file; take another --state",
                               p->dir, names[i]);
    return 0;
}

static int find_program(struct dh_pipeline *p)
{
    struct dh_caper_build build;
    const char *why;
    int rc = dh_cli_check_program(&p->arena, "pipeline", p->argv[0], true);
    if (rc)
        return rc;
    char *real = realpath(dh_path_find_program(&p->arena, p->argv[0]), NULL);
    p->program = real ? dh_arena_strdup(&p->arena, real) : p->argv[0];
    free(real);
    if (dh_caper_build_read(&p->arena, p->program, false, &build, &why) != 0)
        return dh_cli_fail("pipeline", "'%s' %s", p->argv[0], why);
    p->build_id = build.id_text;
    dh_caper_build_done(&build);
    return 0;
}

/* Removes a record that was being written when everything was killed, so that the next one is not appended to
 * it. */
static void mend_records(struct dh_pipeline *p)
{
    struct stat st;
    int fd = open(dh_pipeline_file(p, "races.jsonl"), O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    off_t end = fstat(fd, &st) == 0 ? st.st_size : 0;
    char c = '\n';
    while (end > 0 && pread(fd, &c, 1, end - 1) == 1 && c != '\n')
        end--;
    if (end < st.st_size && ftruncate(fd, end) != 0)
        dh_cli_warn("pipeline", "cannot mend '%s': %s", dh_pipeline_file(p, "races.jsonl"), strerror(errno));
    close(fd);
}

/* ---- The work ---- */

static int run_stages(struct dh_pipeline *p)
{
    int rc = check_files(p);
    if (rc)
        return rc;
    rc = dh_pipeline_load(p);
    if (!rc && p->resumed)
        fprintf(stderr, "deadheat pipeline: continuing with '%s'\n", dh_text_shown(&p->arena, p->dir));
    mend_records(p);
    if (!rc)
        rc = dh_pipeline_caper(p);
    if (!rc)
        rc = dh_pipeline_save(p);
    if (!rc)
        rc = dh_pipeline_chase(p);
    return rc;
}

/* The program's output must not mix with this command's. */
static int run_silently(struct dh_pipeline *p)
{
    int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (kept < 0 || nothing < 0 || dup2(nothing, STDOUT_FILENO) < 0)
        return dh_cli_fail("pipeline", "cannot drop the program's output: %s", strerror(errno));
    close(nothing);
    int rc = run_stages(p);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    return rc;
}

static int print(struct dh_pipeline *p, const struct request *q, struct dh_output *to, u64 *ret_confirmed)
{
    json_t *d = dh_pipeline_document(p, ret_confirmed);
    if (!d)
        return DH_EXIT_TROUBLE;
    int rc = 0;
    dh_pipeline_print(to->stream, dh_print_formats[q->format], d);
    if (q->output && dh_output_commit(to) != 0)
        rc = dh_cli_fail("pipeline", "cannot write '%s': %s", q->output, to->why);
    json_decref(d);
    return rc;
}

static int run(const struct request *q, char **argv)
{
    struct dh_pipeline p = {.argv = argv,
                            .client = q->client,
                            .budget_us = q->budget_us,
                            .steady = q->steady,
                            .start_us = dh_pipeline_now()};
    struct dh_output to = {.stream = q->output ? NULL : stdout};
    u64 confirmed = 0;
    int lock = -1;
    for (int i = 0; i < DH_PIPELINE_STAGES; i++)
        p.took[i].pairs = UINT64_MAX;
    dh_map_init(&p.by_name, &p.arena);
    dh_map_init(&p.lines, &p.arena);
    int rc = find_program(&p);
    p.dir = q->state ? q->state : dh_arena_printf(&p.arena, "%s.pipeline", dh_path_base(argv[0]));
    if (!rc)
        rc = open_directory(&p, &lock);
    /* Before the budget is spent, so that a name that cannot be written is known at once. */
    if (!rc && q->output && dh_output_open(&to, &p.arena, q->output) != 0)
        rc = dh_cli_fail("pipeline", "cannot write '%s': %s", q->output, to.why);
    if (!rc)
        rc = run_silently(&p);
    if (!rc)
        rc = print(&p, q, &to, &confirmed);
    if (q->output)
        dh_output_abandon(&to, false);
    if (lock >= 0)
        close(lock);
    free(p.pairs);
    dh_map_done(&p.by_name);
    dh_map_done(&p.lines);
    dh_arena_done(&p.arena);
    return rc ? rc : confirmed ? DH_EXIT_RACES : 0;
}

int dh_cmd_pipeline(int argc, char **argv)
{
    (void)argc;
    struct request q = {.budget_us = 600000000, .steady = 3};
    unsetenv("DEBUGINFOD_URLS"); /* nothing must wait for the network */
    int program, rc = dh_cli_flags(argv, set_flag, &q, &program);
    if (rc == DH_CLI_HELP) {
        fputs(usage, stdout);
        return 0;
    }
    if (!rc && !argv[program])
        rc = dh_cli_fail("pipeline", "which program? For example: deadheat pipeline -- ./prog");
    return rc ? rc : run(&q, argv + program);
}
