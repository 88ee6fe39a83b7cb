/*
 * tally.c - builds that count how often checked accesses are executed (--dh-count-checks), for bench/prune.
 *
 * Two counters of the program: accesses that would be checked without --dh-prune, and those that are. They
 * are counted at the access, even where one check covers a whole loop, so the two can be compared regardless
 * of how the checks are implemented. The program prints them when it ends. It is slow, since the counters are
 * shared by all threads, and it is for measuring only.
 */
#include <stdlib.h>

#include "ir/ir.h"

struct dh_ir_tally {
    LLVMValueRef counter[2]; /* what would be checked, what is */
};

static LLVMValueRef add_counter(struct dh_ir *ir, const char *name)
{
    LLVMValueRef counter = LLVMAddGlobal(ir->module, ir->u64, name);
    LLVMSetInitializer(counter, LLVMConstNull(ir->u64));
    LLVMSetLinkage(counter, LLVMInternalLinkage);
    return counter;
}

struct dh_ir_tally *dh_ir_tally_new(struct dh_ir *ir)
{
    if (!getenv("DEADHEAT_COUNT_CHECKS"))
        return NULL;
    struct dh_ir_tally *t = calloc(1, sizeof(*t));
    t->counter[0] = add_counter(ir, "__dh_accesses");
    t->counter[1] = add_counter(ir, "__dh_accesses_checked");
    return t;
}

void dh_ir_tally_free(struct dh_ir_tally *t)
{
    free(t);
}

void dh_ir_tally_sites(struct dh_ir *ir, const struct dh_ir_sites *sites, bool checked)
{
    for (size_t i = 0; i < sites->count; i++) {
        unsigned n = dh_ir_sites_checks(&sites->at[i]);
        if (n == 0)
            continue;
        dh_ir_emit_before(ir, sites->at[i].inst);
        LLVMBuildAtomicRMW(ir->builder, LLVMAtomicRMWBinOpAdd, ir->tally->counter[checked],
                           dh_ir_emit_u64(ir, n), LLVMAtomicOrderingMonotonic, false);
    }
}

void dh_ir_tally_end(struct dh_ir *ir)
{
    LLVMTypeRef params[] = {ir->u32, ir->ptr};
    LLVMTypeRef print_type = LLVMFunctionType(ir->u32, params, DH_ARRAY_LEN(params), true);
    LLVMValueRef print = LLVMGetNamedFunction(ir->module, "dprintf");
    if (!print)
        print = LLVMAddFunction(ir->module, "dprintf", print_type);
    LLVMValueRef fn =
        LLVMAddFunction(ir->module, "__dh_say_accesses", LLVMFunctionType(ir->none, NULL, 0, false));
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(ir->builder, LLVMAppendBasicBlockInContext(ir->ctx, fn, ""));
    LLVMSetCurrentDebugLocation2(ir->builder, NULL);
    LLVMValueRef args[] = {
        dh_ir_emit_u32(ir, 2), /* standard error */
        LLVMBuildGlobalStringPtr(ir->builder, "deadheat: accesses %llu checked %llu\n", ""),
        LLVMBuildLoad2(ir->builder, ir->u64, ir->tally->counter[0], ""),
        LLVMBuildLoad2(ir->builder, ir->u64, ir->tally->counter[1], "")};
    LLVMBuildCall2(ir->builder, print_type, print, args, DH_ARRAY_LEN(args), "");
    LLVMBuildRetVoid(ir->builder);
    dh_shim_add_destructor(ir->module, fn, 0);
}
