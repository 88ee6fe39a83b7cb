/*
 * agent_crowd.c - `deadheat crowd`: many users of a hive on one machine (agent/crowd.h), and what the hive
 * knows afterwards: table 1 of the paper (RaceMob, SOSP 2013), and its table 4, the total cost for all of
 * them.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/build.h"
#include "agent/crowd.h"
#include "chase/chase.h"
#include "cli/agent.h"
#include "cli/cmd.h"
#include "report/table.h"
#include "util/lines.h"
#include "util/path.h"

enum { PLAIN_US = 10000000, LIVE_US = 200000, ANSWER_S = 30 };

const char dh_cli_crowd_usage[] =
    "usage: deadheat crowd --hive=URL --key-file=FILE [OPTIONS] -- PROGRAM [ARGUMENTS]\n"
    "\n"
    "Simulates a crowd on this machine: many users of a hive ('deadheat hive'), each with a user number "
    "and a spool\n"
    "of its own, run a field build ('deadheat cc --dh-mode=field'), a few at a time. Their processes, "
    "tasks and\n"
    "results are real. At the end it prints what the hive knows: candidates by verdict, and the cost.\n"
    "\n"
    "In the arguments, and in the client's command, these are replaced:\n"
    "  {seed}                a different number in each run\n"
    "  {user}                the number of the user, from 0\n"
    "  {run}                 the number of the run, from 0\n"
    "  {job}                 a number from 0 that is unique among concurrent runs: for ports and files\n"
    "  {input}               a file of --inputs\n"
    "\n"
    "  --hive=URL            the address of the hive: https://..., or http:// on this machine\n"
    "  --key-file=FILE       a file with the program's key, as shown by 'deadheat hive add'\n"
    "  --admin-token-file=FILE  the administrator's token of the hive, to ask it for its verdicts\n"
    "  --users=N             number of users (default: 1000)\n"
    "  --runs=N              total number of runs (default: two per user)\n"
    "  --visit=N             number of runs in a row by one user (default: 5): a task that times out is "
    "tried again\n"
    "                        with a longer wait by the same user\n"
    "  --jobs=N              number of runs at a time (default: the number of processors)\n"
    "  --budget=TIME         total time: 90s, 10m (default), 8h\n"
    "  --limit=TIME          a run that takes longer is ended (default: 60s)\n"
    "  --seed=N              determines who runs when, and {seed} (default: a new one each time)\n"
    "  --inputs=DIR          each run uses a random file from this directory\n"
    "  --client=COMMAND      for a server: a command started with it; when it ends, the program is asked "
    "to exit\n"
    "  --state=DIR           where the users are kept (default: PROGRAM.crowd). A later crowd continues "
    "with them\n"
    "  --rmax=PERCENT        the share of time that a program may be made to wait (default: 2%)\n"
    "  --hang=TIME           two threads that do not move for this long after a race count as hanging "
    "(default: 10s)\n"
    "  --cacert=FILE, --insecure  as in 'deadheat agent'\n"
    "  --format=text|json    output format (default: text)\n"
    "  --help                this text\n"
    "\n"
    "The program's output is discarded. On SIGINT the crowd ends cleanly and prints what is known by then.\n"
    "\n"
    "Examples:\n"
    "  deadheat crowd --users=1000 --hive=http://127.0.0.1:7070 --key-file=key --admin-token-file=token -- "
    "./prog {seed}\n"
    "  deadheat crowd --hive=http://127.0.0.1:7070 --key-file=key --client='./load 2100{job}' -- ./server "
    "--port=2100{job}\n";

const char *const dh_cli_crowd_flags[] = {"--hive",   "--key-file",  "--admin-token-file",
                                          "--users",  "--runs",      "--visit",
                                          "--jobs",   "--budget",    "--limit",
                                          "--seed",   "--inputs",    "--client",
                                          "--state",  "--rmax",      "--hang",
                                          "--cacert", "--insecure",  "--format",
                                          "--help",   "--head-start"};
const size_t dh_cli_crowd_n_flags = DH_ARRAY_LEN(dh_cli_crowd_flags);

struct dh_cli_crowd {
    const char *users, *runs, *visit, *jobs, *budget, *limit, *seed, *inputs, *client, *token_file, *format;
    struct dh_agent_crowd with;
    u64 start_us, shown_us;
    bool live;
};

/* ---- Flags ---- */

void dh_cli_crowd_begin(struct dh_cli_agent *c)
{
    c->crowd = dh_arena_alloc(&c->arena, sizeof(*c->crowd));
    c->command = "crowd";
    c->settings.begin_us = 10000000; /* the task is known by then: this only matters on a busy machine */
}

const char **dh_cli_crowd_flag(struct dh_cli_agent *c, const char *name, size_t len)
{
    struct dh_cli_crowd *x = c->crowd;
    const struct {
        const char *name;
        const char **to;
    } flags[] = {{"users", &x->users},   {"runs", &x->runs},
                 {"visit", &x->visit},   {"jobs", &x->jobs},
                 {"budget", &x->budget}, {"limit", &x->limit},
                 {"seed", &x->seed},     {"inputs", &x->inputs},
                 {"client", &x->client}, {"admin-token-file", &x->token_file},
                 {"format", &x->format}};
    for (size_t i = 0; i < DH_ARRAY_LEN(flags); i++)
        if (strlen(flags[i].name) == len && strncmp(flags[i].name, name, len) == 0)
            return flags[i].to;
    return NULL;
}

static int read_number(const char *name, const char *text, u64 least, u64 most, u64 *ret)
{
    char *end = NULL;
    errno = 0;
    u64 value = text && text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    if (!text)
        return 0;
    if (!end || *end || errno || value < least || value > most)
        return dh_cli_fail("crowd", "--%s cannot be '%s'; it must be a number from %" PRIu64 " to %" PRIu64,
                           name, text, least, most);
    *ret = value;
    return 0;
}

static int is_file(const struct dirent *e)
{
    return e->d_name[0] != '.' && e->d_type != DT_DIR;
}

static int read_inputs(struct dh_cli_agent *c)
{
    struct dh_cli_crowd *x = c->crowd;
    struct dirent **list = NULL;
    if (!x->inputs)
        return 0;
    int n = scandir(x->inputs, &list, is_file, alphasort);
    if (n <= 0)
        return dh_cli_fail("crowd", "there are no files in '%s'%s%s", x->inputs, n < 0 ? ": " : "",
                           n < 0 ? strerror(errno) : "");
    const char **names = dh_arena_array(&c->arena, (size_t)n, sizeof(*names));
    for (int i = 0; i < n; i++) {
        names[i] = dh_arena_printf(&c->arena, "%s/%s", x->inputs, list[i]->d_name);
        free(list[i]);
    }
    free(list);
    x->with.inputs = names;
    x->with.n_inputs = (size_t)n;
    return 0;
}

static int read_settings(struct dh_cli_agent *c)
{
    enum { MOST_USERS = 1000000, MOST_JOBS = 256 };
    struct dh_cli_crowd *x = c->crowd;
    struct dh_agent_crowd *w = &x->with;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *w = (struct dh_agent_crowd){.settings = &c->settings,
                                 .users = 1000,
                                 .visit = 5,
                                 .jobs = processors < 1           ? 1
                                         : processors > MOST_JOBS ? MOST_JOBS
                                                                  : (u64)processors,
                                 .budget_us = 600000000,
                                 .limit_us = 60000000,
                                 .client = x->client,
                                 .argv = (char **)c->programs};
    if (getrandom(&w->seed, sizeof(w->seed), 0) != sizeof(w->seed))
        w->seed = dh_chase_now_us();
    w->seed &= 0xffffffff;
    int rc = read_number("users", x->users, 1, MOST_USERS, &w->users);
    w->runs = 2 * w->users;
    if (!rc)
        rc = read_number("runs", x->runs, 1, 1000000000, &w->runs);
    if (!rc)
        rc = read_number("visit", x->visit, 1, 1000000, &w->visit);
    if (!rc)
        rc = read_number("jobs", x->jobs, 1, MOST_JOBS, &w->jobs);
    if (!rc)
        rc = read_number("seed", x->seed, 0, UINT64_MAX, &w->seed);
    if (!rc && x->budget && !dh_cli_budget(x->budget, &w->budget_us))
        rc = dh_cli_fail("crowd", "--budget cannot be '%s'; it must be a time from a second on, such as 90s",
                         x->budget);
    if (!rc && x->limit && !dh_cli_budget(x->limit, &w->limit_us))
        rc = dh_cli_fail("crowd", "--limit cannot be '%s'; it must be a time from a second on, such as 20s",
                         x->limit);
    if (!rc && x->format && strcmp(x->format, "text") != 0 && strcmp(x->format, "json") != 0)
        rc = dh_cli_fail("crowd", "--format cannot be '%s'; it must be text or json", x->format);
    w->jobs = w->jobs < w->users ? w->jobs : w->users;
    return rc ? rc : read_inputs(c);
}

/* ---- Progress ---- */

static void show(void *ctx, const struct dh_agent_crowd_count *n)
{
    struct dh_cli_crowd *x = ctx;
    u64 now = dh_chase_now_us();
    if (now - x->shown_us < (x->live ? LIVE_US : PLAIN_US))
        return;
    x->shown_us = now;
    fprintf(stderr,
            "%sdeadheat crowd: %" PRIu64 " of %" PRIu64 " runs, %" PRIu64 " results, %" PRIu64 " of %" PRIu64
            " s%s",
            x->live ? "\r\033[K" : "", n->ended, x->with.runs, n->sent, (now - x->start_us) / 1000000,
            x->with.budget_us / 1000000, x->live ? "" : "\n");
    fflush(stderr);
}

/* ---- What the hive knows ---- */

struct answer {
    bool has;
    long status;
    json_t *object;
    char *text;
};

static void take_answer(void *ctx, long status, const char *text, size_t len)
{
    struct answer *a = ctx;
    a->has = true;
    a->status = status;
    a->object = status == 200 ? json_loadb(text, len, 0, NULL) : NULL;
    a->text = status ? NULL : strndup(text, len);
}

/* NULL after a message. */
static json_t *get(struct dh_cli_agent *c, struct dh_agent_net *net, const char *token, const char *path)
{
    struct answer a = {0};
    dh_agent_net_get(net, dh_arena_printf(&c->arena, "%s%s", c->settings.hive, path), token, ANSWER_S,
                     take_answer, &a);
    while (!a.has)
        dh_agent_net_wait(net, NULL, 0, 1000000);
    if (!a.object && a.status == 401)
        dh_cli_fail("crowd", "the hive does not accept the administrator's token in '%s'",
                    c->crowd->token_file);
    else if (!a.object && a.status)
        dh_cli_fail("crowd", "the hive has answered %s with status %ld", path, a.status);
    else if (!a.object)
        dh_cli_fail("crowd", "the hive cannot be reached: %s", a.text);
    free(a.text);
    return a.object;
}

static const json_t *find(const json_t *list, const char *member, const char *value)
{
    size_t i;
    const json_t *row;
    json_array_foreach(list, i, row)
    {
        const char *text = json_string_value(json_object_get(row, member));
        if (text && strcmp(text, value) == 0)
            return row;
    }
    return NULL;
}

static json_int_t number(const json_t *row, const char *member)
{
    return json_integer_value(json_object_get(row, member));
}

static double part(double of, double whole)
{
    return whole > 0 ? 100 * of / whole : 0;
}

/* Table 1 of the paper, from its row in the hive's status. */
static json_t *table1_of(const json_t *status)
{
    static const struct {
        const char *verdict, *how, *member;
    } rows[] = {{"true race", "causes hang", "causes_hang"},
                {"true race", "causes crash", "causes_crash"},
                {"true race", "both orders", "both_orders"},
                {"true race", "single order", "single_order"},
                {"likely false positive", "not aliasing", "not_aliasing"},
                {"likely false positive", "context", "context"},
                {"likely false positive", "synchronisation", "synchronisation"},
                {"unknown", "", "unknown"}};
    json_t *list = json_array();
    for (size_t i = 0; i < DH_ARRAY_LEN(rows); i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "verdict", rows[i].verdict, "how",
                                              rows[i].how, "candidates", number(status, rows[i].member)));
    return list;
}

struct cost {
    json_int_t users, results;
    double waited_us, run_us;
    double sum;  /* over users, of the percentage of the time that they waited */
    double most; /* for one user */
    double all;  /* over executions */
};

static void add_users(struct cost *n, const json_t *list)
{
    size_t i;
    const json_t *row;
    json_array_foreach(list, i, row)
    {
        double waited = (double)number(row, "waited_us"), ran = (double)number(row, "run_us");
        if (!number(row, "results"))
            continue;
        n->users++;
        n->results += number(row, "results");
        n->waited_us += waited;
        n->run_us += ran;
        n->sum += part(waited, ran);
        n->most = part(waited, ran) > n->most ? part(waited, ran) : n->most;
        n->all += (double)number(row, "results") * part(waited, ran);
    }
}

/* Table 4: the sum over all executions of all users. Rows by `name` and `value`. */
static json_t *cost_of(const struct cost *n)
{
    return json_pack("{s:I, s:I, s:f, s:f, s:f, s:f, s:f}", "users", n->users, "results", n->results,
                     "seconds of running", n->run_us / 1e6, "seconds of waiting", n->waited_us / 1e6,
                     "% on average for a user", n->users ? n->sum / (double)n->users : 0,
                     "% at most for a user", n->most, "% aggregate, the sum over all executions", n->all);
}

static int add_verdicts(struct dh_cli_agent *c, const char *token, const char *build, json_t *document)
{
    struct cost cost = {0};
    struct dh_agent_net *net = dh_agent_net_new(c->settings.cacert);
    if (!net)
        dh_util_no_memory();
    json_t *builds = get(c, net, token, "/v1/builds");
    json_t *status = builds ? get(c, net, token, "/v1/status") : NULL;
    const char *program = json_string_value(
        json_object_get(find(json_object_get(builds, "builds"), "build", build), "program"));
    const json_t *row = program ? find(json_object_get(status, "programs"), "program", program) : NULL;
    int rc = status ? 0 : DH_EXIT_TROUBLE;
    if (!rc && !row)
        rc = dh_cli_fail("crowd", "the hive does not know the build %s any more", build);
    for (json_int_t next = 0; !rc && next >= 0;) {
        json_t *users = get(c, net, token,
                            dh_arena_printf(&c->arena, "/v1/users?program=%s&limit=1000&after=%lld", program,
                                            (long long)next));
        const json_t *after = json_object_get(users, "next");
        rc = users ? 0 : DH_EXIT_TROUBLE;
        add_users(&cost, json_object_get(users, "users"));
        next = json_is_integer(after) ? json_integer_value(after) : -1;
        json_decref(users);
    }
    if (!rc) {
        json_object_set_new(document, "name", json_string(program));
        json_object_set_new(document, "candidates", json_integer(number(row, "candidates")));
        json_object_set_new(document, "bundles", json_integer(number(row, "bundles")));
        json_object_set_new(document, "table1", table1_of(row));
        json_object_set_new(document, "cost", cost_of(&cost));
    }
    json_decref(builds);
    json_decref(status);
    dh_agent_net_free(net);
    return rc;
}

/* ---- The summary ---- */

static void print(const struct dh_cli_crowd *x, const json_t *document)
{
    static const struct dh_print_column facts[] = {
        {.member = "runs", .title = "runs"},          {.member = "crashed", .title = "of them crashed"},
        {.member = "late", .title = "took too long"}, {.member = "idle", .title = "users had nothing to try"},
        {.member = "sent", .title = "results sent"},  {.member = "candidates", .title = "race candidates"},
        {.member = "bundles", .title = "bundles"},    {.member = "seed", .title = "is the seed"},
    };
    static const struct dh_print_column verdicts[] = {
        {.member = "verdict", .title = "verdict", .names = true},
        {.member = "how", .title = "how", .names = true},
        {.member = "candidates", .title = "candidates"},
    };
    static const struct dh_print_column costs[] = {
        {.member = "name", .title = "what", .names = true},
        {.member = "value", .title = "amount", .decimals = 2},
    };
    static const struct dh_print_table tables[] = {
        {.title = "Candidates by verdict (RaceMob's table 1)",
         .member = "table1",
         .columns = verdicts,
         .n_columns = DH_ARRAY_LEN(verdicts)},
        {.title = "What it cost (its table 4)",
         .member = "cost",
         .columns = costs,
         .n_columns = DH_ARRAY_LEN(costs)},
    };
    const struct dh_print_tables about = {
        .title = "Crowd",
        .subject = json_string_value(json_object_get(document, "program")),
        .facts = facts,
        .n_facts = DH_ARRAY_LEN(facts),
        .tables = tables,
        .n_tables = json_object_get(document, "table1") ? DH_ARRAY_LEN(tables) : 0,
    };
    dh_print_tables(stdout, x->format ? x->format : "text", &about, document);
}

static json_t *document_of(const struct dh_cli_crowd *x, const char *build,
                           const struct dh_agent_crowd_count *n)
{
    json_t *o =
        json_pack("{s:i, s:s, s:s, s:I, s:I, s:f}", "version", 1, "program", dh_path_base(x->with.program),
                  "build", build, "users", (json_int_t)x->with.users, "seed", (json_int_t)x->with.seed,
                  "seconds", (double)(dh_chase_now_us() - x->start_us) / 1e6);
    const struct {
        const char *name;
        u64 value;
    } counts[] = {{"runs", n->runs}, {"ended", n->ended}, {"crashed", n->crashed}, {"late", n->late},
                  {"idle", n->idle}, {"sent", n->sent},   {"refused", n->refused}};
    if (!o)
        dh_util_no_memory();
    for (size_t i = 0; i < DH_ARRAY_LEN(counts); i++)
        json_object_set_new(o, counts[i].name, json_integer((json_int_t)counts[i].value));
    json_object_set_new(o, "interrupted", json_boolean(n->interrupted));
    return o;
}

/* NULL after a message. */
static const char *read_token(struct dh_cli_agent *c)
{
    char *text = NULL;
    size_t len;
    int rc = dh_lines_load(c->crowd->token_file, 4096, &text, &len);
    const char *token = rc ? NULL : dh_arena_dup(&c->arena, text, strcspn(text, "\r\n"));
    free(text);
    if (rc)
        dh_cli_fail("crowd", "cannot read '%s': %s", c->crowd->token_file, strerror(-rc));
    return token;
}

int dh_cli_crowd(struct dh_cli_agent *c)
{
    struct dh_cli_crowd *x = c->crowd;
    struct dh_agent_crowd_count count;
    char build[DH_AGENT_BUILD + 1];
    const char *why = "", *token = NULL, *found;
    if (!c->n_programs)
        return dh_cli_fail("crowd", "which program? For example: deadheat crowd --hive=URL -- ./prog");
    int rc = read_settings(c);
    if (!rc && x->token_file && !(token = read_token(c)))
        rc = DH_EXIT_TROUBLE;
    if (rc)
        return rc;
    found = dh_path_find_program(&c->arena, c->programs[0]);
    char *real = found ? realpath(found, NULL) : NULL;
    if (!real)
        return dh_cli_fail("crowd", "cannot run '%s': %s", c->programs[0], strerror(errno));
    x->with.program = dh_arena_strdup(&c->arena, real);
    free(real);
    if (dh_agent_build_id(&c->arena, x->with.program, build, &why) != 0)
        return dh_cli_fail("crowd", "'%s' %s", c->programs[0], why);
    x->live = isatty(STDERR_FILENO);
    x->start_us = x->shown_us = dh_chase_now_us();
    x->with.progress = show;
    x->with.ctx = x;
    rc = dh_agent_crowd_gather(&x->with, &c->arena, &count, &why);
    if (x->live)
        fputs("\r\033[K", stderr);
    if (rc)
        return dh_cli_fail("crowd", "%s", why);
    json_t *document = document_of(x, build, &count);
    if (token)
        rc = add_verdicts(c, token, build, document);
    print(x, document);
    json_decref(document);
    return rc ? rc : count.interrupted ? 130 : 0;
}
