/*
 * value.c - which values may carry a pointer to a block of the heap, whole or in pieces.
 *
 * A value may carry one unless it certainly does not. These certainly do not:
 *   - constants, and addresses of variables, functions and locals: they are not heap blocks;
 *   - results of comparisons, of multiplication, division, shifts, conversions between integers and
 * floating-point numbers, and of floating-point arithmetic; numbers of less than 48 bits, and what is masked
 * to less than 12. If an address goes into one of them, the result is no longer an address, and could only
 * become one again by another such operation: so it escapes where it goes in (the rule `cast`), and the
 * result needs no barrier;
 *   - differences of two addresses;
 *   - what was loaded from memory that has certainly escaped: it has escaped, too (the invariant);
 *   - what was loaded from a constant.
 * A word that is assembled from parts (shifts and `or`) may be a pointer again.
 *
 * Integers in memory that are used in computations are addresses only if the program keeps addresses as
 * integers (dh_caper.integers), or if the language allows a pointer, or any type, at that place, according to
 * type-based alias metadata.
 */
#include "ir/caper/walk.h"
#include "ir/whole/library.h"

bool dh_caper_value_has_words(struct dh_caper *c, LLVMTypeRef type)
{
    return dh_caper_integer_bits(type) >= DH_CAPER_ADDRESS_BITS ||
           LLVMStoreSizeOfType(c->ir->layout, type) >= 8;
}

bool dh_caper_value_is_scalar(LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    return kind == LLVMPointerTypeKind || kind == LLVMDoubleTypeKind ||
           (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 64);
}

/* ---- whole words ---- */

/* What is in memory that has escaped has escaped. */
static bool has_no_private(struct dh_caper *c, LLVMValueRef ptr)
{
    return dh_caper_holds_escaped(c, ptr) || dh_caper_is_constant(ptr);
}

static bool is_no_block(void *arg, LLVMValueRef object)
{
    struct dh_caper *c = arg;
    if (LLVMIsALoadInst(object))
        return has_no_private(c, LLVMGetOperand(object, 0));
    return LLVMIsAAllocaInst(object) || LLVMIsAGlobalValue(object) || LLVMIsAConstantPointerNull(object) ||
           LLVMIsAUndefValue(object) || dh_shim_is_byval_argument(object) || LLVMIsConstant(object);
}

/* The result of a call that is an integer or a floating-point number. */
static bool call_may_carry(struct dh_caper_walk *w, LLVMValueRef call)
{
    static const char *const choosers[] = {"llvm.umin.", "llvm.umax.",  "llvm.smin.",    "llvm.smax.",
                                           "llvm.uadd.", "llvm.sadd.",  "llvm.usub.",    "llvm.ssub.",
                                           "llvm.abs.",  "llvm.expect", "llvm.ssa.copy", "llvm.vector."};
    static const char *const movers[] = {"llvm.masked.", "llvm.ptrmask", "llvm.read", "llvm.vp."};
    size_t len;
    LLVMValueRef callee = dh_caper_called(call);
    const char *name = callee ? LLVMGetValueName2(callee, &len) : "";
    if (!callee)
        return true;
    if (LLVMGetIntrinsicID(callee) == 0)
        return !LLVMIsDeclaration(callee) || dh_w_library(name) == NULL;
    if (dh_caper_is_one_of(name, choosers, DH_ARRAY_LEN(choosers)))
        for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
            dh_caper_walk_push(w, LLVMGetOperand(call, i));
    return dh_caper_is_one_of(name, movers, DH_ARRAY_LEN(movers)) ||
           (dh_caper_starts_with(name, "llvm.x86.") && dh_caper_reads_memory(callee));
}

static void push_operands(struct dh_caper_walk *w, LLVMValueRef v, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        dh_caper_walk_push(w, LLVMGetOperand(v, i));
}

static void push_phi(struct dh_caper_walk *w, LLVMValueRef phi)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        dh_caper_walk_push(w, LLVMGetIncomingValue(phi, i));
}

static bool is_shifted(LLVMValueRef v)
{
    return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMShl;
}

/* An integer from memory that is a number by its type, in a program that keeps no addresses as integers. What
 * is only moved from there may be a pointer all the same, for words are copied in many ways; what is computed
 * of it is not one. */
static bool is_number_from_memory(struct dh_caper *c, LLVMValueRef v)
{
    return LLVMIsALoadInst(v) && !c->integers &&
           dh_caper_integer_bits(LLVMTypeOf(v)) >= DH_CAPER_ADDRESS_BITS && !dh_shim_may_hold_pointer(v);
}

static void push_term(struct dh_caper *c, struct dh_caper_walk *w, LLVMValueRef v)
{
    if (!is_number_from_memory(c, v))
        dh_caper_walk_push(w, v);
}

/* Arithmetic: what of its operands could be an address that the result is one by. true: it may be one. */
static bool arithmetic_may_carry(struct dh_caper *c, struct dh_caper_walk *w, LLVMValueRef v)
{
    LLVMValueRef a = LLVMGetOperand(v, 0), b = LLVMGetOperand(v, 1);
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if ((op == LLVMAdd || op == LLVMSub) && dh_caper_integer_bits(LLVMTypeOf(v)) < DH_CAPER_ADDRESS_BITS)
        return false;
    if (op == LLVMSub) {
        if (!(dh_caper_pointer_of(a) && dh_caper_pointer_of(b)))
            push_term(c, w, a);
        return false;
    }
    if (op == LLVMAnd && (dh_caper_is_small_constant(a) || dh_caper_is_small_constant(b)))
        return false;
    if (op == LLVMOr && (is_shifted(a) || is_shifted(b)))
        return true;
    push_term(c, w, a);
    push_term(c, w, b);
    return false;
}

static bool instruction_may_carry(struct dh_caper *c, struct dh_caper_walk *w, LLVMValueRef v)
{
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMPHI:
        push_phi(w, v);
        return false;
    case LLVMSelect:
        push_operands(w, v, 1, 3);
        return false;
    case LLVMFreeze:
    case LLVMBitCast:
    case LLVMExtractValue:
    case LLVMExtractElement:
        dh_caper_walk_push(w, LLVMGetOperand(v, 0));
        return false;
    case LLVMTrunc:
        if (dh_caper_integer_bits(LLVMTypeOf(v)) >= DH_CAPER_ADDRESS_BITS)
            dh_caper_walk_push(w, LLVMGetOperand(v, 0));
        return false;
    case LLVMZExt:
    case LLVMSExt:
        if (dh_caper_integer_bits(LLVMTypeOf(LLVMGetOperand(v, 0))) >= DH_CAPER_ADDRESS_BITS)
            dh_caper_walk_push(w, LLVMGetOperand(v, 0));
        return false;
    case LLVMInsertValue:
    case LLVMInsertElement:
    case LLVMShuffleVector:
        push_operands(w, v, 0, 2);
        return false;
    case LLVMLoad:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return !has_no_private(c, LLVMGetOperand(v, 0));
    case LLVMPtrToInt:
        return dh_caper_value_carries(c, LLVMGetOperand(v, 0));
    case LLVMAdd:
    case LLVMSub:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
        return arithmetic_may_carry(c, w, v);
    case LLVMMul:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMICmp:
    case LLVMFCmp:
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMFRem:
    case LLVMFNeg:
    case LLVMFPToUI:
    case LLVMFPToSI:
    case LLVMUIToFP:
    case LLVMSIToFP:
    case LLVMFPTrunc:
    case LLVMFPExt:
        return false;
    case LLVMCall:
    case LLVMInvoke:
        return call_may_carry(w, v);
    default:
        return true;
    }
}

bool dh_caper_value_carries(struct dh_caper *c, LLVMValueRef value)
{
    struct dh_caper_walk w = {.n = 0};
    dh_caper_walk_push(&w, value);
    for (LLVMValueRef v; (v = dh_caper_walk_next(&w)) != NULL;) {
        if (LLVMIsConstant(v))
            continue;
        if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind) {
            if (!dh_shim_each_object(v, is_no_block, c))
                return true;
        } else if (!LLVMIsAInstruction(v)) {
            return true; /* an argument */
        } else if (instruction_may_carry(c, &w, v)) {
            return true;
        }
    }
    return w.overflow;
}

/* ---- pieces ---- */

/* What a value has bits of, unchanged or moved to other places in the word. */
static void push_pieces(struct dh_caper_walk *w, LLVMValueRef v)
{
    static const char *const movers[] = {"llvm.bswap.", "llvm.bitreverse.", "llvm.fsh"};
    LLVMValueRef callee;
    size_t len;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMPHI:
        push_phi(w, v);
        break;
    case LLVMSelect:
        push_operands(w, v, 1, 3);
        break;
    case LLVMFreeze:
    case LLVMBitCast:
    case LLVMExtractValue:
    case LLVMExtractElement:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
        dh_caper_walk_push(w, LLVMGetOperand(v, 0));
        break;
    case LLVMInsertValue:
    case LLVMInsertElement:
    case LLVMShuffleVector:
    case LLVMAnd:
    case LLVMOr:
        push_operands(w, v, 0, 2);
        break;
    case LLVMCall:
        callee = dh_caper_called(v);
        if (callee ? dh_caper_is_one_of(LLVMGetValueName2(callee, &len), movers, DH_ARRAY_LEN(movers))
                   : dh_caper_is_empty_asm(v))
            push_operands(w, v, 0, LLVMGetNumArgOperands(v));
        break;
    default:
        break;
    }
}

/* Whether it puts parts of words elsewhere. */
static bool moves_parts(LLVMValueRef v)
{
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMShuffleVector:
    case LLVMExtractElement:
    case LLVMInsertElement:
    case LLVMTrunc:
    case LLVMShl:
    case LLVMLShr:
    case LLVMCall:
        return true;
    default:
        return false;
    }
}

/* An atomic operation returns what was in memory, and so does a load of some elements of a vector. */
static bool is_load(LLVMValueRef v)
{
    size_t len;
    LLVMValueRef callee = LLVMIsACallInst(v) ? dh_caper_called(v) : NULL;
    return LLVMIsALoadInst(v) || LLVMIsAAtomicRMWInst(v) || LLVMIsAAtomicCmpXchgInst(v) ||
           (callee && dh_caper_starts_with(LLVMGetValueName2(callee, &len), "llvm.masked.load."));
}

static unsigned alignment_of(LLVMValueRef load)
{
    return LLVMIsACallInst(load) ? (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(load, 1))
                                 : LLVMGetAlignment(load);
}

/* Whether what is stored has parts of words that are in memory: because little is loaded, because it is
 * loaded from between two words, or because the elements of a vector change their places. */
static bool is_piece(struct dh_caper *c, LLVMValueRef load, bool moved)
{
    LLVMTypeRef type = LLVMTypeOf(LLVMIsAAtomicCmpXchgInst(load) ? LLVMGetOperand(load, 2) : load);
    if (LLVMStoreSizeOfType(c->ir->layout, type) < 8)
        return true;
    bool small = LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
                 LLVMStoreSizeOfType(c->ir->layout, dh_caper_scalar_of(type)) < 8;
    return (alignment_of(load) < 8 || (moved && small)) && (c->integers || dh_shim_may_hold_pointer(load));
}

void dh_caper_value_pieces(struct dh_caper *c, LLVMValueRef value, bool moved,
                           void (*visit)(void *arg, LLVMValueRef load), void *arg)
{
    struct dh_caper_walk w = {.n = 0};
    dh_caper_walk_push(&w, value);
    for (LLVMValueRef v; (v = dh_caper_walk_next(&w)) != NULL;)
        if (LLVMIsAInstruction(v) && !is_load(v)) {
            moved |= moves_parts(v);
            push_pieces(&w, v);
        }
    for (size_t i = 0; i < w.n; i++)
        if (LLVMIsAInstruction(w.seen[i]) && is_load(w.seen[i]) && is_piece(c, w.seen[i], moved))
            visit(arg, w.seen[i]);
}

bool dh_caper_value_is_stored(LLVMValueRef value)
{
    struct dh_caper_walk w = {.n = 0}, back;
    dh_caper_walk_push(&w, value);
    for (LLVMValueRef v; (v = dh_caper_walk_next(&w)) != NULL;)
        for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
            LLVMValueRef user = LLVMGetUser(use);
            if (!LLVMIsAInstruction(user) || LLVMIsAReturnInst(user) || LLVMIsAInvokeInst(user) ||
                LLVMIsAAtomicRMWInst(user) || LLVMIsAAtomicCmpXchgInst(user) ||
                (LLVMIsACallInst(user) && !dh_shim_is_debug(user)) ||
                (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) == v))
                return true;
            back = (struct dh_caper_walk){.n = 0};
            push_pieces(&back, user);
            for (size_t i = 0; i < back.n; i++)
                if (back.seen[i] == v)
                    dh_caper_walk_push(&w, user);
            if (back.overflow)
                return true;
        }
    return w.overflow;
}
