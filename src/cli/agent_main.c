/*
 * agent_main.c - `deadheat agent` and `deadheat run --hive`: the flags. It is a program of its own,
 * lib/deadheat/deadheat-agent, which `deadheat` becomes (cmd_agent.c, cmd_run.c).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/build.h"
#include "base/control.h"
#include "cli/agent.h"
#include "cli/cmd.h"
#include "util/lines.h"
#include "util/output.h"
#include "util/path.h"
#include "util/stack.h"
#include "util/url.h"

static const char usage[] =
    "usage: deadheat agent --hive=URL --key-file=FILE [OPTIONS] PROGRAM...\n"
    "       deadheat agent show --hive=URL --key-file=FILE [OPTIONS] [PROGRAM...]\n"
    "       deadheat agent send --hive=URL --key-file=FILE [OPTIONS]\n"
    "       deadheat run --hive=URL --key-file=FILE [OPTIONS] -- PROGRAM [ARGUMENTS]\n"
    "\n"
    "The user's side of a hive ('deadheat hive'). While field builds ('deadheat cc --dh-mode=field') run, "
    "the agent\n"
    "tries to confirm the possible races that the hive asks for, one at a time, and sends the results. The "
    "programs\n"
    "run as usual: they make no network connections, and keep running whatever happens to the agent or the "
    "hive.\n"
    "\n"
    "agent: serves all instances of the named programs that this user starts, until SIGTERM or SIGINT.\n"
    "show: prints every request that would be sent now, without sending any.\n"
    "send: sends the results that have not been sent yet.\n"
    "run: runs one program. Exit status and output are the program's own.\n"
    "\n"
    "  --hive=URL            the address of the hive: https://..., or http:// on this machine\n"
    "  --key-file=FILE       a file with the program's key, as shown by 'deadheat hive add'\n"
    "  --cacert=FILE         certificates to trust (PEM) instead of the system's\n"
    "  --insecure            allow http:// to another machine, although others can read and change the "
    "traffic\n"
    "  --state=DIR           where unsent results and the user's random number are kept\n"
    "                        (default: below $XDG_STATE_HOME/deadheat/agent)\n"
    "  --rmax=PERCENT        the share of time that a program may be made to wait (default: 2%)\n"
    "  --head-start=TIME     how long the start of a program may be delayed until its task is known\n"
    "                        (default: 100ms)\n"
    "  --hang=TIME           two threads that do not move for this long after a race count as hanging "
    "(default: 10s)\n"
    "  --limit=TIME          send: how long to try (default: 10s)\n"
    "  --config=FILE         more flags and programs, one per line; # begins a comment\n"
    "  --help                this text\n"
    "\n"
    "What is sent: build ids, ids of accesses, outcomes, times, random numbers. DEADHEAT_OPTOUT=1 in a "
    "program's\n"
    "environment keeps the agent away from it.\n"
    "\n"
    "Examples:\n"
    "  deadheat run --hive=https://hive.example.org --key-file=key -- ./server\n"
    "  deadheat agent --hive=https://hive.example.org --key-file=key /usr/bin/server\n"
    "  deadheat agent show --hive=https://hive.example.org --key-file=key /usr/bin/server\n"
    "  systemctl --user enable --now deadheat-agent@server     # reads ~/.config/deadheat/server.conf\n";

static int set_time(struct dh_cli_agent *c, const char *name, const char *text, u64 *ret)
{
    *ret = 0;
    if (strcmp(text, "0") == 0 || dh_cli_time(text, ret))
        return 0;
    return dh_cli_fail(c->command, "--%s cannot be '%s'; it must be a time up to a minute, such as 100ms",
                       name, text);
}

static int read_config(struct dh_cli_agent *c, const char *path);

static int set_flag(struct dh_cli_agent *c, const char *arg, const char *next, int *ret_used)
{
    static const char *const names[] = {"--hive",  "--key-file", "--cacert",     "--insecure",
                                        "--state", "--rmax",     "--head-start", "--hang",
                                        "--limit", "--config",   "--help"};
    struct dh_agent_settings *s = &c->settings;
    const struct {
        const char *name;
        const char **to;
    } texts[] = {
        {"hive", &s->hive}, {"key-file", &s->key_file}, {"cacert", &s->cacert}, {"state", &s->state}};
    const struct {
        const char *name;
        u64 *to;
    } times[] = {{"head-start", &s->begin_us}, {"hang", &s->hang_us}, {"limit", &c->limit_us}};
    const char *v;
    size_t len = strncmp(arg, "--", 2) == 0 ? strcspn(arg + 2, "=") : 0;
    const char **to = c->crowd && len ? dh_cli_crowd_flag(c, arg + 2, len) : NULL;
    if (to && (arg[2 + len] || next)) {
        *to = arg[2 + len] ? arg + 3 + len : next;
        *ret_used = !arg[2 + len];
        return 0;
    }
    for (size_t i = 0; i < DH_ARRAY_LEN(texts); i++) {
        if ((v = dh_cli_value(arg, texts[i].name))) {
            *texts[i].to = dh_arena_strdup(&c->arena, v);
            return 0;
        }
        if (next && strncmp(arg, "--", 2) == 0 && strcmp(arg + 2, texts[i].name) == 0) {
            *texts[i].to = dh_arena_strdup(&c->arena, next);
            *ret_used = 1;
            return 0;
        }
    }
    for (size_t i = 0; i < DH_ARRAY_LEN(times); i++)
        if ((v = dh_cli_value(arg, times[i].name)))
            return set_time(c, times[i].name, v, times[i].to);
    if ((v = dh_cli_value(arg, "config")))
        return read_config(c, v);
    if ((v = dh_cli_value(arg, "rmax")))
        return dh_cli_percent(v, &s->rmax)
                   ? 0
                   : dh_cli_fail(c->command,
                                 "--rmax cannot be '%s'; it must be a percentage from 0%% to 100%%", v);
    if (strcmp(arg, "--insecure") == 0) {
        c->insecure = true;
        return 0;
    }
    return c->crowd ? dh_cli_unknown_flag(c->command, arg, dh_cli_crowd_flags, dh_cli_crowd_n_flags)
                    : dh_cli_unknown_flag(c->command, arg, names, DH_ARRAY_LEN(names));
}

static void add_program(struct dh_cli_agent *c, const char *path)
{
    size_t n = c->n_programs;
    const char **all = dh_arena_array(&c->arena, n + 2, sizeof(*all));
    memcpy(all, c->programs, n * sizeof(*all));
    all[n] = dh_arena_strdup(&c->arena, path);
    all[n + 1] = NULL;
    c->programs = all;
    c->n_programs++;
}

static int read_config(struct dh_cli_agent *c, const char *path)
{
    enum { LARGEST = 1 << 20 };
    char *text = NULL, *rest;
    size_t len;
    int rc = dh_lines_load(path, LARGEST, &text, &len);
    if (rc)
        return dh_cli_fail(c->command, "cannot read '%s': %s", path, strerror(-rc));
    char *copy = dh_arena_dup(&c->arena, text, len);
    free(text);
    rest = copy;
    for (char *line; !rc && (line = strsep(&rest, "\n"));) {
        int used = 0;
        line += strspn(line, " \t");
        size_t n = strlen(line);
        while (n && strchr(" \t\r", line[n - 1]))
            line[--n] = 0;
        if (!n || line[0] == '#')
            continue;
        if (dh_cli_value(line, "config"))
            rc = dh_cli_fail(c->command, "'%s' names another configuration", path);
        else if (line[0] == '-')
            rc = set_flag(c, line, NULL, &used);
        else
            add_program(c, line);
    }
    return rc;
}

/* ---- Defaults ---- */

static int check_hive(struct dh_cli_agent *c)
{
    const char *url = c->settings.hive;
    if (!url)
        return dh_cli_fail(c->command, "which hive? Give its address: --hive=https://...");
    bool plain = strncmp(url, "http://", 7) == 0;
    if (!plain && strncmp(url, "https://", 8) != 0)
        return dh_cli_fail(c->command, "--hive cannot be '%s'; it must begin with https:// or http://", url);
    if (plain && !dh_url_is_local(url) && !c->insecure)
        return dh_cli_fail(
            c->command,
            "'%s' is on another machine, and the key would go there unencrypted: use https://, or give "
            "--insecure",
            url);
    char *text = dh_arena_strdup(&c->arena, url);
    while (text[0] && text[strlen(text) - 1] == '/')
        text[strlen(text) - 1] = 0;
    c->settings.hive = text;
    if (!c->settings.key_file)
        return dh_cli_fail(c->command, "which key? Give the file that has it: --key-file=FILE");
    return 0;
}

static const char *make_absolute(struct dh_cli_agent *c, const char *path)
{
    if (!path || path[0] == '/')
        return path;
    char *cwd = getcwd(NULL, 0);
    const char *all = cwd ? dh_path_join(&c->arena, cwd, path) : path;
    free(cwd);
    return all;
}

static int choose_state(struct dh_cli_agent *c)
{
    const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    const char *hive = c->settings.hive ? c->settings.hive : "";
    u64 hash = dh_util_hash(hive, strlen(hive));
    if (!c->settings.state && c->crowd && c->n_programs)
        c->settings.state = dh_arena_printf(&c->arena, "%s.crowd", dh_path_base(c->programs[0]));
    if (!c->settings.state && (!base || base[0] != '/'))
        base = home && home[0] == '/' ? dh_arena_printf(&c->arena, "%s/.local/state", home) : NULL;
    if (!c->settings.state && !base && strcmp(c->command, "run") == 0) { /* the program runs all the same */
        dh_cli_warn(c->command,
                    "nothing is tried in this run, because neither XDG_STATE_HOME nor HOME is set: give "
                    "--state=DIR");
        return 0;
    }
    if (!c->settings.state && !base)
        return dh_cli_fail(c->command, "neither XDG_STATE_HOME nor HOME is set: give --state=DIR");
    if (!c->settings.state)
        c->settings.state = dh_arena_printf(&c->arena, "%s/deadheat/agent/%016" PRIx64, base, hash);
    c->settings.state = make_absolute(c, c->settings.state);
    c->settings.key_file = make_absolute(c, c->settings.key_file);
    c->settings.cacert = make_absolute(c, c->settings.cacert);
    return 0;
}

/* ---- Commands ---- */

static int serve(struct dh_cli_agent *c)
{
    const char *why;
    if (!c->n_programs)
        return dh_cli_fail(c->command, "which programs? Name their files");
    if (dh_cli_agent_is_unwanted()) {
        fprintf(stderr, "deadheat agent: " DH_CONTROL_OPTOUT " is set, so nothing is done\n");
        return 0;
    }
    c->settings.verbose = true;
    return dh_agent_serve(&c->settings, c->programs, c->n_programs, &c->arena, &why) == 0
               ? 0
               : dh_cli_fail(c->command, "%s", why);
}

static int send_all(struct dh_cli_agent *c)
{
    c->settings.verbose = true;
    size_t left = dh_agent_flush(&c->settings, c->limit_us);
    return left ? dh_cli_fail(c->command, "%zu result%s could not be sent", left, left == 1 ? "" : "s") : 0;
}

static const struct {
    const char *name, *called;
    int (*run)(struct dh_cli_agent *c);
} commands[] = {{"show", "agent show", dh_cli_agent_show}, {"send", "agent send", send_all}};

/* For `run`, flags end at the first word that is not one. */
static int read_flags(struct dh_cli_agent *c, int i, int argc, char **argv, bool is_run)
{
    int rc = 0;
    for (; !rc && i < argc; i++) {
        int used = 0;
        bool end = strcmp(argv[i], "--") == 0;
        if (is_run && (end || argv[i][0] != '-')) {
            c->programs = (const char **)&argv[i + end];
            c->n_programs = (size_t)(argc - i - end);
            return 0;
        }
        if (argv[i][0] == '-' && !end)
            rc = set_flag(c, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &used);
        else if (!end)
            add_program(c, argv[i]);
        i += used;
    }
    return rc;
}

static int run(int argc, char **argv)
{
    bool is_crowd = argc > 0 && strcmp(argv[0], "crowd") == 0;
    bool is_run = is_crowd || (argc > 0 && strcmp(argv[0], "run") == 0);
    struct dh_cli_agent c = {
        .command = is_run ? "run" : "agent",
        .limit_us = 10000000,
        .settings = {.rmax = 0.02, .begin_us = 100000, .hang_us = 10000000, .bound_us = 600000000}};
    int (*work)(struct dh_cli_agent *) = is_run ? dh_cli_agent_run : serve;
    int from = 1;
    if (is_crowd) {
        dh_cli_crowd_begin(&c);
        work = dh_cli_crowd;
    }
    for (int i = 1; i < argc && (!is_run || argv[i][0] == '-') && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(is_crowd ? dh_cli_crowd_usage : usage, stdout);
            return 0;
        }
    }
    for (size_t i = 0; !is_run && argc > 1 && i < DH_ARRAY_LEN(commands); i++) {
        if (strcmp(argv[1], commands[i].name) != 0)
            continue;
        c.command = commands[i].called;
        work = commands[i].run;
        from = 2;
    }
    int rc = read_flags(&c, from, argc, argv, is_run);
    if (!rc)
        rc = check_hive(&c);
    if (!rc)
        rc = choose_state(&c);
    if (!rc)
        rc = work(&c);
    dh_arena_done(&c.arena);
    return rc;
}

int main(int argc, char **argv)
{
    dh_output_begin_standard();
    int status = dh_stack_call(run, argc, argv);
    int rc = dh_output_end_standard();
    return rc ? dh_cli_fail("agent", "cannot write to standard output: %s", strerror(-rc)) : status;
}
