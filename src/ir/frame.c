/*
 * frame.c - the shadow call stack: push at entry, pop at every exit, reset where control returns
 * without the callees having returned.
 *
 * The frame pointer is an ordinary value of the entry block and so reaches every block. Exceptions that
 * pass through a function without landing pads leave its frame behind; the function that catches
 * resets the stack at its landing pad, and longjmp is the same with setjmp's second return.
 */
#include <string.h>

#include "ir/ir.h"

static bool is_fixed(LLVMValueRef inst)
{
    return LLVMIsAAllocaInst(inst) && LLVMIsAConstantInt(LLVMGetOperand(inst, 0));
}

static LLVMValueRef after_allocas(LLVMValueRef fn)
{
    LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn));
    while (is_fixed(first))
        first = LLVMGetNextInstruction(first);
    return first;
}

void dh_ir_frame_prepare(struct dh_ir *ir, LLVMValueRef fn)
{
    LLVMValueRef first = after_allocas(fn), next;
    for (LLVMValueRef inst = first; inst; inst = next) {
        next = LLVMGetNextInstruction(inst);
        if (inst != first && is_fixed(inst)) {
            LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(inst);
            LLVMInstructionRemoveFromParent(inst);
            LLVMPositionBuilderBefore(ir->builder, first);
            LLVMInsertIntoBuilder(ir->builder, inst);
            LLVMInstructionSetDebugLoc(inst, loc);
        }
    }
}

/* The arguments of a function are in registers when its frame is pushed; the call keeps all but vectors. */
static bool has_vector_argument(LLVMValueRef fn)
{
    for (LLVMValueRef arg = LLVMGetFirstParam(fn); arg; arg = LLVMGetNextParam(arg)) {
        LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(arg));
        if (kind != LLVMIntegerTypeKind && kind != LLVMPointerTypeKind)
            return true;
    }
    return LLVMIsFunctionVarArg(LLVMGlobalGetValueType(fn));
}

/* By a call that keeps all registers but the one its result is in. `nest` is LLVM's word for r10. */
static LLVMValueRef emit_rare_enter(struct dh_ir *ir, LLVMValueRef pc)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("nest", strlen("nest"));
    LLVMAttributeRef nest = LLVMCreateEnumAttribute(ir->ctx, kind, 0);
    LLVMValueRef call = dh_ir_emit_call(ir, DH_IR_RARE_ENTER, &pc);
    LLVMSetInstructionCallConv(call, LLVMPreserveMostCallConv);
    LLVMAddCallSiteAttribute(call, 1, nest);
    LLVMAddAttributeAtIndex(ir->entry[DH_IR_RARE_ENTER], 1, nest);
    return call;
}

static LLVMValueRef emit_enter(struct dh_ir *ir, LLVMValueRef fn, bool rare)
{
    LLVMPositionBuilderBefore(ir->builder, after_allocas(fn));
    /* No line of the source: a debugger would take the function's own for the end of the prologue, and stop
     * at it before unoptimised code has put the arguments where debug information says that they are. */
    LLVMMetadataRef scope = LLVMGetSubprogram(fn), loc = NULL;
    if (scope)
        loc = LLVMDIBuilderCreateDebugLocation(ir->ctx, 0, 0, scope, NULL);
    LLVMSetCurrentDebugLocation2(ir->builder, loc);

    static const char name[] = "llvm.returnaddress";
    unsigned id = LLVMLookupIntrinsicID(name, sizeof(name) - 1);
    LLVMValueRef intrinsic = LLVMGetIntrinsicDeclaration(ir->module, id, NULL, 0);
    LLVMValueRef level[] = {dh_ir_emit_u32(ir, 0)};
    LLVMValueRef pc = LLVMBuildCall2(ir->builder, LLVMGlobalGetValueType(intrinsic), intrinsic, level, 1, "");
    return rare && !has_vector_argument(fn) ? emit_rare_enter(ir, pc) : dh_ir_emit_call(ir, DH_IR_ENTER, &pc);
}

/* The call that a return must directly follow, or NULL. */
static LLVMValueRef musttail_before(LLVMValueRef ret)
{
    LLVMValueRef prev = LLVMGetPreviousInstruction(ret);
    if (prev && LLVMIsABitCastInst(prev))
        prev = LLVMGetPreviousInstruction(prev);
    if (prev && LLVMIsACallInst(prev) && LLVMGetTailCallKind(prev) == LLVMTailCallKindMustTail)
        return prev;
    return NULL;
}

static void visit(struct dh_ir *ir, LLVMValueRef inst, LLVMValueRef frame)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMRet: {
        LLVMValueRef call = musttail_before(inst);
        dh_ir_emit_before(ir, call ? call : inst);
        dh_ir_emit_call(ir, DH_IR_EXIT, &frame);
        break;
    }
    case LLVMResume:
        dh_ir_emit_before(ir, inst);
        dh_ir_emit_call(ir, DH_IR_EXIT, &frame);
        break;
    case LLVMLandingPad:
        dh_ir_emit_after(ir, inst);
        dh_ir_emit_call(ir, DH_IR_REENTER, &frame);
        break;
    case LLVMCall:
        if (dh_shim_call_traits(inst) & DH_CALL_RETURNS_TWICE) {
            dh_ir_emit_after(ir, inst);
            dh_ir_emit_call(ir, DH_IR_REENTER, &frame);
        }
        break;
    default:
        break;
    }
}

void dh_ir_frame_insert(struct dh_ir *ir, LLVMValueRef fn, bool rare)
{
    LLVMValueRef frame = emit_enter(ir, fn, rare);
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb)) {
        LLVMValueRef next;
        for (LLVMValueRef inst = LLVMGetFirstInstruction(bb); inst; inst = next) {
            next = LLVMGetNextInstruction(inst);
            visit(ir, inst, frame);
        }
    }
}
