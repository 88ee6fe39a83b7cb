/*
 * embed.c - what a link with `deadheat cc --dh-mode=field` does to the merged module: analyses it and puts
 * the table of sites and pairs into it, as the section .deadheat.pairs of the program.
 *
 * The section is loaded with the program's read-only data, so that strip leaves it alone; no code touches it,
 * so it costs no memory. If the analysis fails (analysis.c), the program is linked all the same, with a
 * warning.
 */
#include <stdio.h>

#include "ir/ir.h"
#include "ir/whole/whole.h"
#include "report/pairs.h"

void dh_ir_embed(LLVMModuleRef m, const struct dh_ir_analysis *a)
{
    LLVMContextRef ctx = LLVMGetModuleContext(m);
    LLVMValueRef text = LLVMConstStringInContext2(ctx, (const char *)a->bytes, a->n, true);
    LLVMValueRef table = LLVMAddGlobal(m, LLVMTypeOf(text), "__dh_pairs");
    LLVMSetInitializer(table, text);
    LLVMSetGlobalConstant(table, true);
    LLVMSetLinkage(table, LLVMPrivateLinkage);
    LLVMSetAlignment(table, 8);
    LLVMSetSection(table, DH_PAIRS_SECTION);
    dh_shim_keep(m, table);
}

void dh_ir_analyse_program(LLVMModuleRef m)
{
    struct dh_ir_analysis a;
    if (dh_ir_analysis_run(m, &(struct dh_whole_options){0}, NULL, &a)) {
        dh_ir_embed(m, &a);
    } else {
        char sentence[sizeof(a.why) + 64];
        snprintf(sentence, sizeof(sentence), "deadheat: %s, so the program carries no table of pairs", a.why);
        dh_shim_warn(m, sentence);
    }
    dh_ir_analysis_done(&a);
}
