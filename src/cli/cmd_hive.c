/*
 * cmd_hive.c - `deadheat hive` is a program of its own beside the libraries: those of databases, HTTP and TLS
 * that it needs would more than double the time in which every other command starts, and `deadheat cc` starts
 * for each file of a project.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "util/path.h"

int dh_cmd_hive(int argc, char **argv)
{
    struct dh_arena arena = {0};
    const char *given = getenv("DEADHEAT_LIBDIR"), *self = dh_path_self(&arena), *path = NULL;
    (void)argc;
    if (given && *given)
        path = dh_arena_printf(&arena, "%s/deadheat-hive", given);
    else if (self)
        path = dh_path_join(&arena, self, "../../lib/deadheat/deadheat-hive");
    fflush(NULL);
    if (path)
        execv(path, argv);
    int rc = dh_cli_fail("hive", "cannot run '%s': %s; install deadheat again, with its libraries",
                         path ? path : "deadheat-hive", strerror(path ? errno : ENOENT));
    dh_arena_done(&arena);
    return rc;
}
