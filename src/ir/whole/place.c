/*
 * place.c - source positions, from debug information.
 */
#include <llvm-c/DebugInfo.h>

#include "ir/whole/model.h"
#include "ir/whole/shim_whole.h"
#include "util/path.h"

struct dh_pairs_place dh_w_place(struct dh_w *w, LLVMValueRef value)
{
    struct dh_pairs_place at = {.file = "", .dir = ""};
    if (value == NULL)
        return at;
    unsigned len = 0;
    const char *text = LLVMGetDebugLocFilename(value, &len);
    if (text != NULL && len > 0)
        at.file = dh_pairs_intern(w->pairs, dh_arena_dup(&w->arena, text, len));
    text = LLVMGetDebugLocDirectory(value, &len);
    if (text != NULL && len > 0)
        at.dir = dh_pairs_intern(w->pairs, dh_arena_dup(&w->arena, text, len));
    at.line = LLVMGetDebugLocLine(value);
    if (LLVMIsAInstruction(value) != NULL)
        at.column = LLVMGetDebugLocColumn(value);
    return at;
}

static const char *text(struct dh_w *w, const char *at, size_t len)
{
    return len == 0 ? "" : dh_pairs_intern(w->pairs, dh_arena_dup(&w->arena, at, len));
}

/* Whether a file belongs to the system: as it is named, or where the compiler ran. */
static bool is_system(const char *file, const char *dir)
{
    return dh_path_is_system(file[0] == '/' ? file : dir);
}

const char *dh_w_project_place(struct dh_w *w, LLVMValueRef inst, struct dh_pairs_place *ret)
{
    struct dh_shim_frame f;
    const char *function = "";
    bool found = false;
    *ret = (struct dh_pairs_place){.file = "", .dir = ""};
    for (unsigned depth = 0; !found && dh_shim_frame(inst, depth, &f); depth++) {
        const char *file = text(w, f.file, f.file_len), *dir = text(w, f.dir, f.dir_len);
        found = !is_system(file, dir);
        if (!found && depth > 0)
            continue; /* of those of the system, the innermost */
        function = text(w, f.function, f.function_len);
        *ret = (struct dh_pairs_place){file, dir, f.line, f.column, f.declared, f.internal};
    }
    return function;
}
