/*
 * part.c - commands that are separate programs, installed next to the libraries.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "util/path.h"

int dh_cli_become_part(const char *command, const char *program, char **argv)
{
    struct dh_arena arena = {0};
    const char *given = getenv("DEADHEAT_LIBDIR"), *self = dh_path_self(&arena), *path = NULL;
    if (given && *given)
        path = dh_arena_printf(&arena, "%s/%s", given, program);
    else if (self)
        path = dh_path_join(&arena, self, dh_arena_printf(&arena, "../../lib/deadheat/%s", program));
    fflush(NULL);
    if (path)
        execv(path, argv);
    int rc = dh_cli_fail(command, "cannot run '%s': %s; install deadheat again, with its libraries",
                         path ? path : program, strerror(path ? errno : ENOENT));
    dh_arena_done(&arena);
    return rc;
}
