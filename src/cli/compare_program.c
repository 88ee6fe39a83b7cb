/*
 * compare_program.c - a program under each detector, through `deadheat run` and `deadheat record` themselves:
 * what is measured is what a user of those commands would see.
 *
 * The program's output is discarded and its input is empty: it runs once for each detector.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/compare.h"
#include "util/path.h"

static const char *self(struct dh_arena *arena)
{
    const char *path = dh_path_self(arena);
    return path ? path : "deadheat";
}

/* The arguments before the program's, then those; both terminated by NULL. */
static char **join(struct dh_arena *arena, char *const *head, char *const *tail)
{
    size_t n = 0, m = 0;
    while (head[n])
        n++;
    while (tail[m])
        m++;
    char **all = dh_arena_array(arena, n + m + 1, sizeof(*all));
    memcpy(all, head, n * sizeof(*all));
    memcpy(all + n, tail, m * sizeof(*all));
    return all;
}

static void become(char **argv)
{
    execvp(argv[0], argv);
    _exit(errno == ENOENT ? 127 : 126);
}

static void run_silent(void *ctx)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; nowhere >= 0 && fd <= 2; fd++)
        dup2(nowhere, fd);
    become(ctx);
}

static void run_read(void *ctx, int fd)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(fd, STDOUT_FILENO);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
    become(ctx);
}

/* Runs the command as often as requested; the shortest times count. */
static void measure(struct dh_compare *c, struct dh_compare_row *row, char **argv, const char *fresh)
{
    struct dh_compare_child child;
    for (u64 round = 0; round < c->rounds && !row->error; round++) {
        if (fresh)
            unlink(fresh);
        int rc = dh_compare_child_run(run_silent, argv, c->timeout, &child);
        row->error = rc ? strerror(-rc) : dh_compare_child_error(c, &child);
        if (row->error)
            break;
        if (row->seconds == 0 || child.seconds < row->seconds) {
            row->seconds = child.seconds;
            row->peak = child.peak;
        }
        if (row->cpu == 0 || child.cpu < row->cpu)
            row->cpu = child.cpu;
        int status = WEXITSTATUS(child.status);
        if (status != 0 && status != DH_EXIT_RACES)
            row->note = dh_arena_printf(&c->arena, "exit status %d", status);
    }
}

void dh_compare_native(struct dh_compare *c, struct dh_compare_row *row, char **argv)
{
    row->how = "native";
    measure(c, row, argv, NULL);
}

void dh_compare_record(struct dh_compare *c, struct dh_compare_row *row, char **argv, const char *file)
{
    char *head[] = {(char *)self(&c->arena),
                    "record",
                    "--quiet",
                    dh_arena_printf(&c->arena, "--output=%s", file),
                    "--",
                    NULL};
    row->how = "recording";
    measure(c, row, join(&c->arena, head, argv), NULL);
    if (!row->error && access(file, R_OK) != 0)
        row->error = "nothing was recorded";
}

/* ---- What was reported -------------------------------------------------------------------------------- */

/* "function file:line" of the frame to point at, in the form used for a recording's places. */
static const char *place(struct dh_arena *arena, const json_t *race_access)
{
    const json_t *stack = json_object_get(race_access, "stack"), *top = json_array_get(stack, 0);
    const char *function = json_string_value(json_object_get(top, "function"));
    const char *file = json_string_value(json_object_get(top, "file"));
    const char *module = json_string_value(json_object_get(top, "module"));
    if (function && file)
        return dh_arena_printf(arena, "%s %s:%d", function, dh_path_base(file),
                               (int)json_integer_value(json_object_get(top, "line")));
    if (function)
        return function;
    return top ? dh_arena_printf(arena, "%s+%s", module ? dh_path_base(module) : "",
                                 json_string_value(json_object_get(top, "offset")))
               : "?";
}

static bool writes(const json_t *race_access)
{
    const char *kind = json_string_value(json_object_get(race_access, "kind"));
    return kind && strcmp(kind, "read") != 0;
}

static void take_race(struct dh_compare *c, struct dh_compare_row *row, const json_t *race)
{
    const json_t *accesses = json_object_get(race, "accesses"), *location = json_object_get(race, "location");
    const json_t *now = json_array_get(accesses, 0), *earlier = json_array_get(accesses, 1);
    const char *kind = json_string_value(json_object_get(location, "kind"));
    const char *name = json_string_value(json_object_get(location, "name"));
    const char *a = place(&c->arena, now), *b = place(&c->arena, earlier);
    if (!name || !kind || strcmp(kind, "global") != 0)
        name = dh_compare_unnamed(&c->arena, a, b);
    dh_compare_add(c, row, name, a, writes(now), b, writes(earlier));
}

/* The runtime distinguishes only so many races; a count that may be too low must not look like a fact. */
static void note_lost(struct dh_compare *c, struct dh_compare_row *row, const json_t *root)
{
    json_int_t lost = json_integer_value(json_object_get(json_object_get(root, "counters"), "LOST_REPORTS"));
    if (lost > 0)
        row->note = dh_arena_printf(&c->arena, "%lld reports lost%s%s", (long long)lost,
                                    row->note ? "; " : "", row->note ? row->note : "");
}

void dh_compare_online(struct dh_compare *c, struct dh_compare_row *row, char **argv, const char *file)
{
    char *program = (char *)self(&c->arena);
    char *head[] = {program,
                    "run",
                    dh_arena_printf(&c->arena, "--detector=%s", row->name),
                    "--report=0",
                    dh_arena_printf(&c->arena, "--output=%s", file),
                    "--",
                    NULL};
    char *report[] = {program, "report", "--all", "--format=json", (char *)file, NULL};
    struct dh_compare_child child;
    json_t *race;
    size_t i;
    row->how = "online";
    measure(c, row, join(&c->arena, head, argv), file);
    if (row->error)
        return;
    if (access(file, R_OK) != 0) {
        row->error = "no records were written";
        return;
    }
    json_t *root = dh_compare_child_read(run_read, report, c->timeout, &child);
    if (!root)
        row->error = "its records cannot be read";
    json_array_foreach(json_object_get(root, "findings"), i, race) take_race(c, row, race);
    note_lost(c, row, root);
    json_decref(root);
}
