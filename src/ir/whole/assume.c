/*
 * assume.c - counts the assumptions of the analysis.
 */
#include "ir/whole/model.h"

static const struct {
    const char *name, *sentence;
} table[] = {
#define DH_ASSUME(id, name, sentence) {name, sentence},
#include "ir/whole/assume.def"
#undef DH_ASSUME
};

void dh_w_assume(struct dh_w *w, enum dh_w_assumption what, u64 count, LLVMValueRef where)
{
    const char *example = NULL;
    if (where != NULL) {
        struct dh_pairs_place at = dh_w_place(w, where);
        size_t len = 0;
        const char *name = "";
        if (LLVMIsACallInst(where) != NULL || LLVMIsAInvokeInst(where) != NULL)
            name = LLVMGetValueName2(LLVMGetCalledValue(where), &len);
        example =
            dh_arena_printf(&w->arena, "%s:%u%s%.*s", at.file, at.line, len > 0 ? " " : "", (int)len, name);
    }
    dh_pairs_assumed(w->pairs, table[what].name, table[what].sentence, count, example);
}

void dh_w_assume_nothing(struct dh_w *w)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(table); i++)
        dh_pairs_assumed(w->pairs, table[i].name, table[i].sentence, 0, NULL);
}
