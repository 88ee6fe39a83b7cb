/*
 * place.c - source positions, from debug information.
 */
#include <llvm-c/DebugInfo.h>

#include "ir/whole/model.h"

struct dh_pairs_place dh_w_place(struct dh_w *w, LLVMValueRef value)
{
    struct dh_pairs_place at = {"", "", 0, 0};
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
