/*
 * masked.c - vector loads and stores that touch only the lanes a mask selects.
 *
 * Each lane gets its own check, of its address where the mask is set and of a variable in the
 * current frame where it is not: a check of memory unknown to other threads can never report
 * anything, and this needs no branches. The packed forms (expand, compress) access a number of
 * elements from the start: a range.
 */
#include <string.h>

#include "ir/ir.h"

enum form { FORM_NONE, FORM_LOAD, FORM_STORE, FORM_GATHER, FORM_SCATTER, FORM_EXPAND, FORM_COMPRESS };

static enum form form_of(LLVMValueRef call)
{
    static const struct {
        const char *prefix;
        enum form form;
    } table[] = {{"llvm.masked.load.", FORM_LOAD},         {"llvm.masked.store.", FORM_STORE},
                 {"llvm.masked.gather.", FORM_GATHER},     {"llvm.masked.scatter.", FORM_SCATTER},
                 {"llvm.masked.expandload.", FORM_EXPAND}, {"llvm.masked.compressstore.", FORM_COMPRESS}};
    size_t len;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &len);
    for (size_t i = 0; i < DH_ARRAY_LEN(table); i++)
        if (strncmp(name, table[i].prefix, strlen(table[i].prefix)) == 0)
            return table[i].form;
    return FORM_NONE;
}

static bool is_write(enum form form)
{
    return form == FORM_STORE || form == FORM_SCATTER || form == FORM_COMPRESS;
}

bool dh_ir_masked_is(LLVMValueRef call)
{
    return form_of(call) != FORM_NONE;
}

/* Stores have the value first, then the pointer. */
static LLVMValueRef pointer_operand(LLVMValueRef call, enum form form)
{
    return LLVMGetOperand(call, is_write(form) ? 1 : 0);
}

LLVMValueRef dh_ir_masked_pointer(LLVMValueRef call)
{
    enum form form = form_of(call);
    return form == FORM_GATHER || form == FORM_SCATTER ? NULL : pointer_operand(call, form);
}

/* Load and gather: pointer, alignment, mask. Store and scatter: value, pointer, alignment, mask.
 * Expand: pointer, mask. Compress: value, pointer, mask. */
static LLVMValueRef mask_operand(LLVMValueRef call, enum form form)
{
    static const unsigned index[] = {[FORM_LOAD] = 2,    [FORM_STORE] = 3,  [FORM_GATHER] = 2,
                                     [FORM_SCATTER] = 3, [FORM_EXPAND] = 1, [FORM_COMPRESS] = 2};
    return LLVMGetOperand(call, index[form]);
}

/* A variable of this frame that stands for "no access". */
static LLVMValueRef private_slot(struct dh_ir *ir, LLVMValueRef call, LLVMValueRef place)
{
    LLVMValueRef fn = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    LLVMPositionBuilderBefore(ir->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn)));
    LLVMSetCurrentDebugLocation2(ir->builder, NULL);
    LLVMValueRef slot = LLVMBuildAlloca(ir->builder, LLVMArrayType2(ir->u64, 2), "");
    LLVMSetAlignment(slot, 16);
    dh_ir_emit_at(ir, place, call);
    return slot;
}

static void emit_packed(struct dh_ir *ir, LLVMValueRef ptr, LLVMValueRef mask, unsigned lanes, u64 size,
                        bool write)
{
    LLVMValueRef total = dh_ir_emit_u64(ir, 0);
    for (unsigned i = 0; i < lanes; i++) {
        LLVMValueRef bit = LLVMBuildExtractElement(ir->builder, mask, dh_ir_emit_u32(ir, i), "");
        LLVMValueRef bytes =
            LLVMBuildSelect(ir->builder, bit, dh_ir_emit_u64(ir, size), dh_ir_emit_u64(ir, 0), "");
        total = LLVMBuildAdd(ir->builder, total, bytes, "");
    }
    LLVMValueRef args[] = {ptr, total};
    dh_ir_emit_call(ir, write ? DH_IR_WRITE_RANGE : DH_IR_READ_RANGE, args);
}

void dh_ir_masked_emit(struct dh_ir *ir, LLVMValueRef call, LLVMValueRef place)
{
    enum form form = form_of(call);
    bool write = is_write(form);
    LLVMTypeRef vector = LLVMTypeOf(write ? LLVMGetOperand(call, 0) : call);
    unsigned lanes = LLVMGetVectorSize(vector);
    LLVMTypeRef element = LLVMGetElementType(vector);
    u64 size = LLVMStoreSizeOfType(ir->layout, element);
    LLVMValueRef ptr = pointer_operand(call, form), mask = mask_operand(call, form);
    if (form == FORM_EXPAND || form == FORM_COMPRESS) {
        emit_packed(ir, ptr, mask, lanes, size, write);
        return;
    }

    LLVMValueRef align_operand = LLVMGetOperand(call, write ? 2 : 1);
    u64 align = LLVMConstIntGetZExtValue(align_operand);
    if (align > size)
        align = size; /* what every lane has */
    LLVMValueRef slot = private_slot(ir, call, place);
    for (unsigned i = 0; i < lanes; i++) {
        LLVMValueRef index = dh_ir_emit_u32(ir, i);
        LLVMValueRef bit = LLVMBuildExtractElement(ir->builder, mask, index, "");
        if (LLVMIsAConstantInt(bit) && LLVMConstIntGetZExtValue(bit) == 0)
            continue;
        LLVMValueRef lane = form == FORM_GATHER || form == FORM_SCATTER
                                ? LLVMBuildExtractElement(ir->builder, ptr, index, "")
                                : LLVMBuildGEP2(ir->builder, element, ptr, &index, 1, "");
        lane = LLVMBuildSelect(ir->builder, bit, lane, slot, "");
        dh_ir_emit_check(ir, write, lane, size, align);
    }
}
