/*
 * cc_paths.c - finds what is needed to compile: clang, and deadheat's own headers.
 */
#include <stdlib.h>

#include "cli/cc_args.h"
#include "util/path.h"

const char *dh_cc_beside_program(struct dh_arena *arena, const char *name)
{
    const char *self = dh_path_self(arena);
    return self ? dh_path_join(arena, self, name) : NULL;
}

/* <deadheat/deadheat.h> is found without an option, but after the program's own headers; replacements for
 * headers of other tools (docs/guide/compat.md) come before the system's. */
void dh_cc_add_headers(struct dh_cc_args *out)
{
    const char *dir = dh_cc_beside_program(out->arena, "../../include");
    if (!dir)
        return;
    dh_cc_args_add(out, dh_arena_printf(out->arena, "-isystem%s/deadheat/compat", dir));
    dh_cc_args_add(out, dh_arena_printf(out->arena, "-idirafter%s", dir));
}

const char *dh_cc_find_clang(struct dh_arena *arena)
{
    const char *given = getenv("DEADHEAT_CLANG");
    if (given && *given)
        return dh_path_find_program(arena, given);
    const char *found = dh_path_find_program(arena, "clang-19");
    return found ? found : dh_path_find_program(arena, "/usr/lib/llvm-19/bin/clang");
}
