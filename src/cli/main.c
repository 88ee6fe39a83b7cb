/*
 * main.c - `deadheat`: finds the command and calls it.
 *
 * Called through a link named deadheat-cc or deadheat-c++ it is that command, so that build systems can name
 * it as their compiler in one word.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"
#include "util/output.h"
#include "util/path.h"
#include "util/stack.h"

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help_flag; /* makes the command print its help */
    const char *summary;
};

static const struct command commands[] = {
#ifdef DH_HAVE_CC
    {"cc", dh_cmd_cc, "--dh-help", "compile C so that races can be found (a drop-in for clang and gcc)"},
    {"c++", dh_cmd_cxx, "--dh-help", "the same for C++"},
#endif
    {"run", dh_cmd_run, "--help", "run a program and report its data races"},
    {"test", dh_cmd_test, "--help", "run a program many times, and report how often each race appeared"},
    {"record", dh_cmd_record, "--help", "run a program and record its execution, for later analysis"},
    {"report", dh_cmd_report, "--help", "print recorded races again, as text or JSON"},
    {"analyze", dh_cmd_analyze, "--help", "find the races in a recorded trace, with any of the detectors"},
    {"compare", dh_cmd_compare, "--help",
     "run every detector on the same trace or program: cost and findings"},
    {"static", dh_cmd_static, "--help",
     "list the pairs of accesses that may race, without running the program"},
    {"chase", dh_cmd_chase, "--help", "confirm races in a program that runs at full speed"},
    {"caper", dh_cmd_caper, "--help", "track all pairs that may have raced, over many runs in production"},
    {"hive", dh_cmd_hive, "--help", "let the users of a program find out which possible races are real"},
    {"agent", dh_cmd_agent, "--help", "the users' side of a hive: work on its tasks while programs run"},
    {"crowd", dh_cmd_crowd, "--help", "simulate many users of a hive on one machine"},
    {"pipeline", dh_cmd_pipeline, "--help", "static analysis, caper, chase and steering in one command"},
    {"detectors", dh_cmd_detectors, "--help", "list the detectors and what they guarantee"},
    {"trace", dh_cmd_trace, "--help", "inspect, filter or convert a trace"},
};

static void print_usage(FILE *f)
{
    fputs(
        "deadheat finds data races in multithreaded C and C++ programs.\n"
        "\n"
        "usage: deadheat COMMAND [ARGUMENTS]\n"
        "\n",
        f);
    for (size_t i = 0; i < DH_ARRAY_LEN(commands); i++)
        fprintf(f, "  %-9s %s\n", commands[i].name, commands[i].summary);
    fputs(
        "  help      explain a command: deadheat help run\n"
        "\n"
        "Two commands find a race:\n"
        "  deadheat cc -g -O1 -pthread -o prog prog.c\n"
        "  deadheat run -- ./prog\n",
        f);
}

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(commands); i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}

static int unknown(const char *name)
{
    const char *names[DH_ARRAY_LEN(commands)];
    for (size_t i = 0; i < DH_ARRAY_LEN(commands); i++)
        names[i] = commands[i].name;
    const char *nearest = dh_cli_nearest(name, strlen(name), names, DH_ARRAY_LEN(names));
    if (nearest)
        return dh_cli_fail("", "there is no command '%s'; did you mean '%s'?", name, nearest);
    return dh_cli_fail("", "there is no command '%s'; 'deadheat --help' lists them", name);
}

static int help(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stdout);
        return 0;
    }
    const struct command *c = find(argv[1]);
    if (!c)
        return unknown(argv[1]);
    char *args[] = {argv[1], (char *)c->help_flag, NULL};
    return c->run(2, args);
}

static int run(int argc, char **argv)
{
    static const char prefix[] = "deadheat-";
    const char *self = argc > 0 ? dh_path_base(argv[0]) : "deadheat";
    if (strncmp(self, prefix, sizeof(prefix) - 1) == 0) {
        const struct command *c = find(self + sizeof(prefix) - 1);
        if (c)
            return c->run(argc, argv);
    }
    if (argc < 2) {
        print_usage(stderr);
        return DH_EXIT_TROUBLE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help(1, argv);
    if (strcmp(argv[1], "--version") == 0) {
        puts("deadheat " DH_VERSION);
        return 0;
    }
    if (strcmp(argv[1], "help") == 0)
        return help(argc - 1, argv + 1);
    const struct command *c = find(argv[1]);
    return c ? c->run(argc - 1, argv + 1) : unknown(argv[1]);
}

/* Whether a command's output was written is checked here: lost output is not success. */
int main(int argc, char **argv)
{
    dh_output_begin_standard();
    int status = dh_stack_call(run, argc, argv);
    int rc = dh_output_end_standard();
    return rc ? dh_cli_fail("", "cannot write to standard output: %s", strerror(-rc)) : status;
}
