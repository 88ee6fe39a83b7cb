/*
 * cmd_caper.c - `deadheat caper`: the pairs of accesses that may have raced, over many runs (Caper, CC 2017,
 * section 5).
 *
 * The program runs as if the command were not there: its output, its signals and its exit status are its own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/caper.h"
#include "cli/cmd.h"

static const char usage[] =
    "usage: deadheat caper --state=FILE [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "       deadheat caper status --state=FILE [OPTIONS] [PROGRAM]\n"
    "       deadheat caper export --state=FILE --to=pairs|filter|json [OPTIONS] [PROGRAM]\n"
    "\n"
    "Runs a program that was built with 'deadheat cc --dh-mode=caper', and keeps in a file the pairs of "
    "accesses\n"
    "that may have raced in any of its runs so far (dpPairs), out of all possible pairs (spPairs). Every "
    "race that\n"
    "has happened is among them. The exit status is the program's own.\n"
    "\n"
    "  --state=FILE    the results of all runs so far; created by the first one. Any number of runs may "
    "use it at\n"
    "                  the same time\n"
    "  --migrate       the state is from another build: keep what is known about the accesses that both "
    "builds\n"
    "                  have. The old state is kept as FILE.old\n"
    "  --program=FILE  the Caper build, if PROGRAM only starts it: a script, a test\n"
    "  --client=COMMAND  a shell command that sends work to a server: it is started with the program, and "
    "when\n"
    "                  it ends, the program gets SIGTERM\n"
    "  --ask=new|all|none  which accesses the program checks: those that could be new (default); all, as "
    "in a first\n"
    "                  run; none\n"
    "  --analysis=escape|alias  Caper's escape analysis (default); or dynamic alias analysis, precise and "
    "slow:\n"
    "                  the pairs whose two accesses have touched the same bytes from two threads, one of\n"
    "                  them writing. It needs a build with '--dh-mode=caper --dh-alias', and a separate "
    "state\n"
    "  --quiet         do not print the result of the run\n"
    "  --help          this text\n"
    "\n"
    "'deadheat caper status --help' and 'deadheat caper export --help' explain the other two.\n"
    "\n"
    "Examples:\n"
    "  deadheat cc --dh-mode=caper -O2 -pthread -o prog prog.c\n"
    "  deadheat caper --state=prog.caper -- ./prog --its-own-flag\n"
    "  deadheat caper status --state=prog.caper\n";

struct request {
    const char *state, *program;
    bool quiet, migrate;
    enum dh_caper_ask ask;
    bool alias;
};

static int set_ask(struct request *q, const char *word)
{
    static const char *const words[] = {"new", "all", "none"};
    for (size_t i = 0; i < DH_ARRAY_LEN(words); i++)
        if (strcmp(word, words[i]) == 0) {
            q->ask = (enum dh_caper_ask)i;
            return 0;
        }
    return dh_cli_fail("caper", "--ask cannot be '%s'; it must be new, all or none", word);
}

static int set_analysis(struct request *q, const char *word)
{
    q->alias = strcmp(word, "alias") == 0;
    if (!q->alias && strcmp(word, "escape") != 0)
        return dh_cli_fail("caper", "--analysis cannot be '%s'; it must be escape or alias", word);
    return 0;
}

static int set_flag(void *request, char **argv, int *i)
{
    struct request *q = request;
    static const char *const names[] = {"--state", "--migrate",  "--program", "--client",
                                        "--ask",   "--analysis", "--quiet",   "--help"};
    const char *arg = argv[*i], *v;
    if ((v = dh_cli_argument(argv, i, "state")))
        q->state = v;
    else if ((v = dh_cli_value(arg, "program")))
        q->program = v;
    else if ((v = dh_cli_value(arg, "client")))
        dh_cli_client_set(v);
    else if ((v = dh_cli_value(arg, "ask")))
        return set_ask(q, v);
    else if ((v = dh_cli_value(arg, "analysis")))
        return set_analysis(q, v);
    else if (strcmp(arg, "--migrate") == 0)
        q->migrate = true;
    else if (strcmp(arg, "--quiet") == 0)
        q->quiet = true;
    else
        return dh_cli_unknown_flag("caper", arg, names, DH_ARRAY_LEN(names));
    return 0;
}

static const char *plural(u64 n)
{
    return n == 1 ? "" : "s";
}

static void say_sets(const struct dh_cli_caper *c, u64 runs)
{
    if (c->alias) {
        fprintf(stderr,
                "deadheat caper: %" PRIu64 " new pair%s in run %" PRIu64 "; %" PRIu64 " of %" PRIu64
                " pairs accessed the same bytes",
                c->new_sites, plural(c->new_sites), runs, c->count.dp, c->count.dp + c->count.sp);
        return;
    }
    fprintf(stderr,
            "deadheat caper: %" PRIu64 " new site%s in run %" PRIu64 "; %zu of %zu sites escaped, %" PRIu64
            " pair%s in dpPairs, %" PRIu64 " left in spPairs",
            c->new_sites, plural(c->new_sites), runs, c->sets.n_escaped, c->sets.n_sites, c->count.dp,
            plural(c->count.dp), c->count.sp);
}

static void say_outcome(const struct dh_cli_caper *c)
{
    u64 steady = dh_caper_state_steady(&c->state), runs = dh_caper_state_runs(&c->state);
    say_sets(c, runs);
    if (steady)
        fprintf(stderr, "; nothing new for %" PRIu64 " run%s", steady, plural(steady));
    fputc('\n', stderr);
    if (c->left)
        fprintf(stderr,
                "deadheat caper: %" PRIu64
                " %s%s more came from runs whose command had been killed or could not write the "
                "state\n",
                c->left, c->alias ? "pair" : "site", plural(c->left));
}

static int run(struct request *q, char **argv)
{
    struct dh_cli_caper c = {
        .command = "caper", .migrate = q->migrate, .ask = q->ask, .alias = q->alias, .run.fd = -1};
    int status = 0, rc = dh_cli_check_program(&c.arena, "caper", argv[0], true);
    if (!rc)
        rc = dh_cli_caper_open(&c, q->state, q->program ? q->program : argv[0]);
    if (!rc)
        rc = dh_cli_caper_begin(&c);
    if (!rc) {
        status = dh_cli_caper_run(&c, argv);
        rc = status < 0 ? -status : dh_cli_caper_end(&c, status);
    }
    if (!rc && !q->quiet)
        say_outcome(&c);
    dh_cli_caper_close(&c);
    return rc ? rc : dh_cli_child_end_like(status);
}

int dh_cmd_caper(int argc, char **argv)
{
    struct request q = {0};
    if (argc > 1 && strcmp(argv[1], "status") == 0)
        return dh_cli_caper_status(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "export") == 0)
        return dh_cli_caper_export(argc - 1, argv + 1);
    int program, rc = dh_cli_flags(argv, set_flag, &q, &program);
    if (rc == DH_CLI_HELP) {
        fputs(usage, stdout);
        return 0;
    }
    if (!rc && !q.state)
        rc = dh_cli_fail("caper",
                         "where is the state? For example: deadheat caper --state=prog.caper -- ./prog");
    if (!rc && !argv[program])
        rc = dh_cli_fail("caper", "which program? For example: deadheat caper --state=%s -- ./prog", q.state);
    return rc ? rc : run(&q, argv + program);
}
