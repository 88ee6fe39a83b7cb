/*
 * atomic.c - atomic instructions and calls of libatomic, between __dh_atomic_pre and _post.
 *
 * Only the operation itself stands between the two (pre may hold a lock of the runtime). The order
 * of an instruction is known; that of a libatomic call is passed on as the program computed it,
 * without the bits of hardware lock elision, which do not order threads.
 */
#include <stdlib.h>
#include <string.h>

#include "event/atomic.h"
#include "ir/ir.h"

static u32 order_of(LLVMAtomicOrdering o)
{
    switch (o) {
    case LLVMAtomicOrderingAcquire:
        return DH_ACQUIRE;
    case LLVMAtomicOrderingRelease:
        return DH_RELEASE;
    case LLVMAtomicOrderingAcquireRelease:
        return DH_ACQ_REL;
    case LLVMAtomicOrderingSequentiallyConsistent:
        return DH_SEQ_CST;
    default:
        return DH_RELAXED;
    }
}

static LLVMValueRef emit_pre(struct dh_ir *ir, LLVMValueRef ptr, LLVMValueRef size, LLVMValueRef order,
                             u32 kind)
{
    LLVMValueRef args[] = {ptr, size, order, dh_ir_emit_u32(ir, kind)};
    return dh_ir_emit_call(ir, DH_IR_ATOMIC_PRE, args);
}

static void emit_post(struct dh_ir *ir, LLVMValueRef handle, LLVMValueRef order, LLVMValueRef kind)
{
    LLVMValueRef args[] = {handle, order, kind};
    dh_ir_emit_call(ir, DH_IR_ATOMIC_POST, args);
}

/* After a compare-exchange: what happened decides which order and kind it had. */
static void emit_post_exchange(struct dh_ir *ir, LLVMValueRef handle, LLVMValueRef stored,
                               LLVMValueRef success, LLVMValueRef failure)
{
    LLVMValueRef order = LLVMBuildSelect(ir->builder, stored, success, failure, "");
    LLVMValueRef kind = LLVMBuildSelect(ir->builder, stored, dh_ir_emit_u32(ir, DH_ATOMIC_RMW),
                                        dh_ir_emit_u32(ir, DH_ATOMIC_CAS_FAILED), "");
    emit_post(ir, handle, order, kind);
}

void dh_ir_atomic_emit(struct dh_ir *ir, LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    LLVMValueRef ptr = LLVMGetOperand(inst, opcode == LLVMStore ? 1 : 0);
    LLVMTypeRef type = LLVMTypeOf(opcode == LLVMLoad    ? inst
                                  : opcode == LLVMStore ? LLVMGetOperand(inst, 0)
                                                        : LLVMGetOperand(inst, 1));
    LLVMValueRef size = dh_ir_emit_u32(ir, (u32)LLVMStoreSizeOfType(ir->layout, type));
    u32 kind = opcode == LLVMLoad ? DH_ATOMIC_LOAD : opcode == LLVMStore ? DH_ATOMIC_STORE : DH_ATOMIC_RMW;
    bool exchange = opcode == LLVMAtomicCmpXchg;
    LLVMValueRef order =
        dh_ir_emit_u32(ir, order_of(exchange ? LLVMGetCmpXchgSuccessOrdering(inst) : LLVMGetOrdering(inst)));

    LLVMValueRef handle = emit_pre(ir, ptr, size, order, exchange ? DH_ATOMIC_CAS_FAILED : kind);
    dh_ir_emit_after(ir, inst);
    if (exchange) {
        LLVMValueRef stored = LLVMBuildExtractValue(ir->builder, inst, 1, "");
        LLVMValueRef failure = dh_ir_emit_u32(ir, order_of(LLVMGetCmpXchgFailureOrdering(inst)));
        emit_post_exchange(ir, handle, stored, order, failure);
    } else {
        emit_post(ir, handle, order, dh_ir_emit_u32(ir, kind));
    }
}

void dh_ir_atomic_emit_fence(struct dh_ir *ir, LLVMValueRef fence)
{
    LLVMValueRef args[] = {dh_ir_emit_u32(ir, order_of(LLVMGetOrdering(fence)))};
    dh_ir_emit_call(ir, DH_IR_FENCE, args);
}

/* ---- libatomic -------------------------------------------------------------------------------- */

struct libcall {
    u32 kind;
    bool exchange;    /* compare-exchange: two orders, result tells whether it stored */
    bool generic;     /* size is the first argument, values are passed by address */
    unsigned size;    /* if not generic */
    unsigned pointer; /* index of the argument that is the atomic object */
    unsigned order;   /* index of the (success) order */
};

static bool is_fetch_op(const char *name, size_t len)
{
    static const char *const names[] = {"fetch_add", "fetch_sub",  "fetch_and", "fetch_or",
                                        "fetch_xor", "fetch_nand", "add_fetch", "sub_fetch",
                                        "and_fetch", "or_fetch",   "xor_fetch", "nand_fetch"};
    for (size_t i = 0; i < DH_ARRAY_LEN(names); i++)
        if (strlen(names[i]) == len && memcmp(name, names[i], len) == 0)
            return true;
    return false;
}

/* Splits "__atomic_OPERATION[_SIZE]" and knows where each argument is. */
static bool parse_libcall(LLVMValueRef call, struct libcall *ret_libcall)
{
    size_t len;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &len);
    static const char prefix[] = "__atomic_";
    if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
        return false;
    name += sizeof(prefix) - 1;
    const char *underscore = strrchr(name, '_');
    size_t op_len = strlen(name);
    struct libcall l = {.generic = true};
    if (underscore && underscore[1] >= '1' && underscore[1] <= '9') {
        l.generic = false;
        l.size = (unsigned)atoi(underscore + 1);
        op_len = (size_t)(underscore - name);
    }
    unsigned values; /* arguments between the object and the order */
    if (op_len == 4 && memcmp(name, "load", 4) == 0) {
        l.kind = DH_ATOMIC_LOAD;
        values = l.generic ? 1 : 0;
    } else if (op_len == 5 && memcmp(name, "store", 5) == 0) {
        l.kind = DH_ATOMIC_STORE;
        values = 1;
    } else if (op_len == 8 && memcmp(name, "exchange", 8) == 0) {
        l.kind = DH_ATOMIC_RMW;
        values = l.generic ? 2 : 1;
    } else if (op_len == 16 && memcmp(name, "compare_exchange", 16) == 0) {
        l.kind = DH_ATOMIC_RMW;
        l.exchange = true;
        values = 2;
    } else if (!l.generic && is_fetch_op(name, op_len)) {
        l.kind = DH_ATOMIC_RMW;
        values = 1;
    } else {
        return false;
    }
    l.pointer = l.generic ? 1 : 0;
    l.order = l.pointer + 1 + values;
    *ret_libcall = l;
    return LLVMGetNumArgOperands(call) == l.order + (l.exchange ? 2 : 1);
}

bool dh_ir_atomic_is_libcall(LLVMValueRef call)
{
    struct libcall l;
    return parse_libcall(call, &l);
}

static LLVMValueRef order_argument(struct dh_ir *ir, LLVMValueRef call, unsigned arg)
{
    LLVMValueRef order = LLVMBuildIntCast2(ir->builder, LLVMGetOperand(call, arg), ir->u32, false, "");
    return LLVMBuildAnd(ir->builder, order, dh_ir_emit_u32(ir, 7), "");
}

/* The buffers that a generic call reads and writes besides the atomic object. */
static void emit_buffers(struct dh_ir *ir, LLVMValueRef call, const struct libcall *l)
{
    LLVMValueRef first[] = {LLVMGetOperand(call, 2), LLVMGetOperand(call, 0)};
    dh_ir_emit_call(ir, l->kind == DH_ATOMIC_LOAD ? DH_IR_WRITE_RANGE : DH_IR_READ_RANGE, first);
    if (l->kind != DH_ATOMIC_RMW)
        return;
    LLVMValueRef second[] = {LLVMGetOperand(call, 3), LLVMGetOperand(call, 0)};
    dh_ir_emit_call(ir, l->exchange ? DH_IR_READ_RANGE : DH_IR_WRITE_RANGE, second);
}

void dh_ir_atomic_emit_libcall(struct dh_ir *ir, LLVMValueRef call)
{
    struct libcall l;
    if (!parse_libcall(call, &l))
        return;
    if (l.generic)
        emit_buffers(ir, call, &l);
    else if (l.exchange)
        dh_ir_emit_check(ir, false, LLVMGetOperand(call, 1), l.size, l.size);
    LLVMValueRef size = l.generic
                            ? LLVMBuildIntCast2(ir->builder, LLVMGetOperand(call, 0), ir->u32, false, "")
                            : dh_ir_emit_u32(ir, l.size);
    LLVMValueRef order = order_argument(ir, call, l.order);
    LLVMValueRef failure = l.exchange ? order_argument(ir, call, l.order + 1) : NULL;
    LLVMValueRef handle = emit_pre(ir, LLVMGetOperand(call, l.pointer), size, order,
                                   l.exchange ? DH_ATOMIC_CAS_FAILED : l.kind);
    dh_ir_emit_after(ir, call);
    if (l.exchange) {
        LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(call));
        LLVMValueRef stored = LLVMBuildICmp(ir->builder, LLVMIntNE, call, zero, "");
        emit_post_exchange(ir, handle, stored, order, failure);
    } else {
        emit_post(ir, handle, order, dh_ir_emit_u32(ir, l.kind));
    }
}
