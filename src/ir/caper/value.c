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
#include <string.h>

#include "ir/caper/caper.h"
#include "ir/whole/library.h"

enum {
    MAX_STEPS = 128, /* values looked at for one question; beyond, the answer is the careful one */
    ADDRESS_BITS = 48,
    SMALL_MASK = 1 << 12,
};

struct walk {
    LLVMValueRef seen[MAX_STEPS];
    size_t n, done;
    bool overflow;
    bool far; /* something was added that may lead out of the block */
};

static void push(struct walk *w, LLVMValueRef v)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->seen[i] == v)
            return;
    if (w->n == MAX_STEPS)
        w->overflow = true;
    else
        w->seen[w->n++] = v;
}

static LLVMValueRef next(struct walk *w)
{
    return w->done < w->n ? w->seen[w->done++] : NULL;
}

static LLVMTypeRef scalar_of(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

static unsigned integer_bits(LLVMTypeRef type)
{
    type = scalar_of(type);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
}

static bool is_small_constant(LLVMValueRef v)
{
    return LLVMIsAConstantInt(v) && LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 64 &&
           LLVMConstIntGetZExtValue(v) < SMALL_MASK;
}

bool dh_caper_value_has_words(struct dh_caper *c, LLVMTypeRef type)
{
    return integer_bits(type) >= ADDRESS_BITS || LLVMStoreSizeOfType(c->ir->layout, type) >= 8;
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
    return dh_caper_place_of(c, ptr) == DH_CAPER_ESCAPED || dh_caper_is_constant(ptr);
}

static bool is_no_block(void *arg, LLVMValueRef object)
{
    struct dh_caper *c = arg;
    if (LLVMIsALoadInst(object))
        return has_no_private(c, LLVMGetOperand(object, 0));
    return LLVMIsAAllocaInst(object) || LLVMIsAGlobalValue(object) || LLVMIsAConstantPointerNull(object) ||
           LLVMIsAUndefValue(object) || dh_shim_is_byval_argument(object) || LLVMIsConstant(object);
}

static bool starts_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool is_one_of(const char *name, const char *const *prefixes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (starts_with(name, prefixes[i]))
            return true;
    return false;
}

static LLVMValueRef called(LLVMValueRef call)
{
    return LLVMIsAFunction(LLVMGetCalledValue(call));
}

/* The result of a call that is an integer or a floating-point number. */
static bool call_may_carry(struct walk *w, LLVMValueRef call)
{
    static const char *const choosers[] = {"llvm.umin.", "llvm.umax.",  "llvm.smin.",    "llvm.smax.",
                                           "llvm.uadd.", "llvm.sadd.",  "llvm.usub.",    "llvm.ssub.",
                                           "llvm.abs.",  "llvm.expect", "llvm.ssa.copy", "llvm.vector."};
    static const char *const movers[] = {"llvm.masked.", "llvm.ptrmask", "llvm.read", "llvm.vp."};
    size_t len;
    LLVMValueRef callee = called(call);
    const char *name = callee ? LLVMGetValueName2(callee, &len) : "";
    if (!callee)
        return true;
    if (LLVMGetIntrinsicID(callee) == 0)
        return !LLVMIsDeclaration(callee) || dh_w_library(name) == NULL;
    if (is_one_of(name, choosers, DH_ARRAY_LEN(choosers)))
        for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
            push(w, LLVMGetOperand(call, i));
    return is_one_of(name, movers, DH_ARRAY_LEN(movers)) ||
           (starts_with(name, "llvm.x86.") && dh_caper_reads_memory(callee));
}

static void push_operands(struct walk *w, LLVMValueRef v, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        push(w, LLVMGetOperand(v, i));
}

static void push_phi(struct walk *w, LLVMValueRef phi)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        push(w, LLVMGetIncomingValue(phi, i));
}

/* The pointer that a number was made of, by an instruction or a constant expression; or NULL. */
static LLVMValueRef pointer_of(LLVMValueRef number)
{
    bool cast = LLVMIsAPtrToIntInst(number) ||
                (LLVMIsAConstantExpr(number) && LLVMGetConstOpcode(number) == LLVMPtrToInt);
    return cast ? LLVMGetOperand(number, 0) : NULL;
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
    return LLVMIsALoadInst(v) && !c->integers && integer_bits(LLVMTypeOf(v)) >= ADDRESS_BITS &&
           !dh_shim_may_hold_pointer(v);
}

static void push_term(struct dh_caper *c, struct walk *w, LLVMValueRef v)
{
    if (!is_number_from_memory(c, v))
        push(w, v);
}

/* Arithmetic: what of its operands could be an address that the result is one by. true: it may be one. */
static bool arithmetic_may_carry(struct dh_caper *c, struct walk *w, LLVMValueRef v)
{
    LLVMValueRef a = LLVMGetOperand(v, 0), b = LLVMGetOperand(v, 1);
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if ((op == LLVMAdd || op == LLVMSub) && integer_bits(LLVMTypeOf(v)) < ADDRESS_BITS)
        return false;
    if (op == LLVMSub) {
        if (!(pointer_of(a) && pointer_of(b)))
            push_term(c, w, a);
        return false;
    }
    if (op == LLVMAnd && (is_small_constant(a) || is_small_constant(b)))
        return false;
    if (op == LLVMOr && (is_shifted(a) || is_shifted(b)))
        return true;
    push_term(c, w, a);
    push_term(c, w, b);
    return false;
}

static bool instruction_may_carry(struct dh_caper *c, struct walk *w, LLVMValueRef v)
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
        push(w, LLVMGetOperand(v, 0));
        return false;
    case LLVMTrunc:
        if (integer_bits(LLVMTypeOf(v)) >= ADDRESS_BITS)
            push(w, LLVMGetOperand(v, 0));
        return false;
    case LLVMZExt:
    case LLVMSExt:
        if (integer_bits(LLVMTypeOf(LLVMGetOperand(v, 0))) >= ADDRESS_BITS)
            push(w, LLVMGetOperand(v, 0));
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
    struct walk w = {.n = 0};
    push(&w, value);
    for (LLVMValueRef v; (v = next(&w)) != NULL;) {
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
static void push_pieces(struct walk *w, LLVMValueRef v)
{
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
        push(w, LLVMGetOperand(v, 0));
        break;
    case LLVMInsertValue:
    case LLVMInsertElement:
    case LLVMShuffleVector:
    case LLVMAnd:
    case LLVMOr:
        push_operands(w, v, 0, 2);
        break;
    case LLVMCall:
        callee = called(v);
        if (callee && (starts_with(LLVMGetValueName2(callee, &len), "llvm.bswap.") ||
                       starts_with(LLVMGetValueName2(callee, &len), "llvm.fsh")))
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

/* Whether what is stored has parts of words that are in memory: because little is loaded, because it is
 * loaded from between two words, or because the elements of a vector change their places. */
static bool is_piece(struct dh_caper *c, LLVMValueRef load, bool moved)
{
    LLVMTypeRef type = LLVMTypeOf(load);
    if (LLVMStoreSizeOfType(c->ir->layout, type) < 8)
        return true;
    bool small = LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
                 LLVMStoreSizeOfType(c->ir->layout, scalar_of(type)) < 8;
    return (LLVMGetAlignment(load) < 8 || (moved && small)) &&
           (c->integers || dh_shim_may_hold_pointer(load));
}

void dh_caper_value_pieces(struct dh_caper *c, LLVMValueRef value,
                           void (*visit)(void *arg, LLVMValueRef load), void *arg)
{
    struct walk w = {.n = 0};
    bool moved = false;
    push(&w, value);
    for (LLVMValueRef v; (v = next(&w)) != NULL;)
        if (LLVMIsAInstruction(v) && !LLVMIsALoadInst(v)) {
            moved |= moves_parts(v);
            push_pieces(&w, v);
        }
    for (size_t i = 0; i < w.n; i++)
        if (LLVMIsALoadInst(w.seen[i]) && is_piece(c, w.seen[i], moved))
            visit(arg, w.seen[i]);
}

/* ---- addresses that are computed with ---- */

enum { FINE, KEPT, CHANGED }; /* KEPT: it goes somewhere as an integer */

static bool all_uses_mask(LLVMValueRef v)
{
    for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool mask = LLVMIsAInstruction(user) && LLVMGetInstructionOpcode(user) == LLVMAnd &&
                    is_small_constant(LLVMGetOperand(user, 1));
        if (!mask && !LLVMIsAICmpInst(user))
            return false;
    }
    return true;
}

/* Tags in the lowest or highest bits leave a pointer what it is. */
static bool is_tag(LLVMValueRef v)
{
    if (!LLVMIsAConstantInt(v) || LLVMGetIntTypeWidth(LLVMTypeOf(v)) > 64)
        return false;
    u64 bits = LLVMConstIntGetZExtValue(v);
    return (bits & ((1ull << ADDRESS_BITS) - 1)) < 16;
}

/* A function of the library of which only its arguments are known, and those are numbers: the kernel may keep
 * one where other threads find it, as the offset of a file or the count of an eventfd. */
static bool takes_numbers(LLVMValueRef callee, const char *name)
{
    const char *effects = LLVMIsDeclaration(callee) ? dh_w_library(name) : NULL;
    return effects && effects[0] == '\0';
}

/* Calls of functions keep the integer as it is, and so do these intrinsics. */
static int call_of(LLVMValueRef call)
{
    static const char *const keepers[] = {
        "llvm.umin.",    "llvm.umax.",       "llvm.smin.",   "llvm.smax.",      "llvm.expect",
        "llvm.ssa.copy", "llvm.ptrmask",     "llvm.masked.", "llvm.vector",     "llvm.assume",
        "llvm.lifetime", "llvm.is.constant", "llvm.vp.",     "llvm.objectsize", "llvm.mem"};
    size_t len;
    LLVMValueRef callee = called(call);
    const char *name = callee ? LLVMGetValueName2(callee, &len) : "";
    if (callee && starts_with(name, "llvm.x86."))
        return KEPT; /* call.c publishes what machine instructions are given */
    if (callee && LLVMGetIntrinsicID(callee) != 0)
        return is_one_of(name, keepers, DH_ARRAY_LEN(keepers)) ? KEPT : CHANGED;
    return callee && takes_numbers(callee, name) ? CHANGED : KEPT;
}

static bool is_new_block(LLVMValueRef object)
{
    const LLVMAttributeIndex result = (LLVMAttributeIndex)LLVMAttributeReturnIndex;
    unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7);
    return LLVMIsACallInst(object) &&
           (LLVMGetCallSiteEnumAttribute(object, result, kind) ||
            (called(object) && LLVMGetEnumAttributeAtIndex(called(object), result, kind)));
}

/* Whether two addresses are in different objects for certain. Then their difference is no distance within
 * one: it stands for one of them where the other is known. */
static bool are_apart(LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef x = dh_shim_object(a), y = dh_shim_object(b);
    if (x == y)
        return false;
    if (LLVMIsAGlobalValue(x) || LLVMIsAGlobalValue(y) || LLVMIsAAllocaInst(x) || LLVMIsAAllocaInst(y))
        return true;
    return (is_new_block(x) && (LLVMIsAArgument(y) || LLVMIsACallInst(y))) ||
           (is_new_block(y) && (LLVMIsAArgument(x) || LLVMIsACallInst(x)));
}

/* Rounding up: what is added goes again, as far as it matters. */
static bool all_uses_clear(LLVMValueRef sum, u64 added)
{
    for (LLVMUseRef use = LLVMGetFirstUse(sum); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        LLVMValueRef mask = LLVMIsAInstruction(user) && LLVMGetInstructionOpcode(user) == LLVMAnd
                                ? LLVMGetOperand(user, 1)
                                : NULL;
        if (!mask || !LLVMIsAConstantInt(mask) || LLVMGetIntTypeWidth(LLVMTypeOf(mask)) > 64 ||
            added > ~(u64)LLVMConstIntGetSExtValue(mask))
            return false;
    }
    return true;
}

/* Where a sum or a difference lies, a scan does not find the block, unless what was added is as small as a
 * tag. */
static void add(struct walk *w, LLVMValueRef sum, LLVMValueRef added)
{
    enum { GRAIN = 16 };
    bool constant = LLVMIsAConstantInt(added) && LLVMGetIntTypeWidth(LLVMTypeOf(added)) <= 64;
    u64 n = constant ? LLVMConstIntGetZExtValue(added) : 0;
    w->far |= !constant || (n >= GRAIN && !all_uses_clear(sum, n));
    push(w, sum);
}

/* v is one of the two. */
static int difference_of(struct walk *w, LLVMValueRef v, LLVMValueRef sub)
{
    LLVMValueRef a = LLVMGetOperand(sub, 0), b = LLVMGetOperand(sub, 1);
    LLVMValueRef from = pointer_of(a), to = pointer_of(b);
    if (from && to)
        return are_apart(from, to) ? CHANGED : FINE;
    if (a != v || b == v)
        return from || all_uses_mask(sub) ? FINE : CHANGED;
    if (!to)
        add(w, sub, b);
    return to && are_apart(v, to) ? CHANGED : FINE;
}

static int use_of(struct walk *w, LLVMValueRef v, LLVMValueRef user)
{
    if (!LLVMIsAInstruction(user))
        return CHANGED;
    LLVMValueRef other = NULL;
    if (LLVMIsABinaryOperator(user))
        other = LLVMGetOperand(user, LLVMGetOperand(user, 0) == v ? 1 : 0);
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMICmp:
    case LLVMIntToPtr:
    case LLVMGetElementPtr: /* a pointer again */
    case LLVMSwitch:
        return FINE;
    case LLVMPHI:
    case LLVMSelect:
    case LLVMFreeze:
    case LLVMInsertElement:
    case LLVMExtractElement:
    case LLVMShuffleVector:
        push(w, user);
        return FINE;
    case LLVMBitCast: /* a vector of the same words */
        if (integer_bits(LLVMTypeOf(user)) < ADDRESS_BITS)
            return CHANGED;
        push(w, user);
        return FINE;
    case LLVMAdd:
        add(w, user, other);
        return FINE;
    case LLVMSub:
        return difference_of(w, v, user);
    case LLVMAnd:
        if (!is_small_constant(other))
            push(w, user);
        return FINE;
    case LLVMOr:
    case LLVMXor:
        push(w, user);
        return is_tag(other) ? FINE : CHANGED;
    case LLVMTrunc:
        return all_uses_mask(user) ? FINE : CHANGED;
    case LLVMCall:
        return call_of(user);
    case LLVMStore:
    case LLVMInvoke:
    case LLVMCallBr:
    case LLVMRet:
    case LLVMInsertValue:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return KEPT;
    default:
        return CHANGED;
    }
}

/*
 * What becomes of an address that is an integer now. One that is kept at a distance from its block is as good
 * as one that was changed. (Of an integer from memory that is not asked: those to which something is added
 * are numbers, nearly all of them.)
 */
static int fate_of(LLVMValueRef value)
{
    struct walk w = {.n = 0};
    int fate = FINE;
    push(&w, value);
    for (LLVMValueRef v; (v = next(&w)) != NULL;)
        for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
            int one = use_of(&w, v, LLVMGetUser(use));
            fate = one > fate ? one : fate;
        }
    bool apart = fate == KEPT && w.far && LLVMIsAPtrToIntInst(value);
    return w.overflow || apart ? CHANGED : fate;
}

static void look_at(struct dh_caper *c, LLVMValueRef fn)
{
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb && !c->integers;
         bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i && !c->integers; i = LLVMGetNextInstruction(i))
            c->integers = LLVMIsAPtrToIntInst(i) && dh_caper_value_carries(c, i) && fate_of(i) == KEPT;
}

void dh_caper_value_look(struct dh_caper *c)
{
    for (LLVMValueRef fn = LLVMGetFirstFunction(c->ir->module); fn && !c->integers;
         fn = LLVMGetNextFunction(fn))
        look_at(c, fn);
}

/* Integers from memory that may be addresses; see the top of the file. */
static bool is_address_from_memory(struct dh_caper *c, LLVMValueRef load)
{
    return integer_bits(LLVMTypeOf(load)) >= ADDRESS_BITS && (c->integers || dh_shim_may_hold_pointer(load));
}

static bool is_integer_from_outside(struct dh_caper *c, LLVMValueRef v)
{
    return c->integers && (LLVMIsACallInst(v) || LLVMIsAInvokeInst(v)) &&
           integer_bits(LLVMTypeOf(v)) >= ADDRESS_BITS && dh_caper_value_carries(c, v);
}

void dh_caper_value_plan_casts(struct dh_caper *c, LLVMValueRef inst)
{
    if (!dh_caper_has(c, DH_CAPER_RULE_CAST))
        return;
    if (LLVMIsAPtrToIntInst(inst)) {
        if (dh_caper_value_carries(c, inst) && fate_of(inst) == CHANGED)
            dh_caper_act_add(c, DH_CAPER_PUBLISH, inst)->a = LLVMGetOperand(inst, 0);
    } else if ((LLVMIsALoadInst(inst) ? is_address_from_memory(c, inst) : is_integer_from_outside(c, inst)) &&
               fate_of(inst) == CHANGED) {
        struct dh_caper_act *act = dh_caper_act_add(c, DH_CAPER_BITS, inst);
        act->a = inst;
        act->after = true;
    }
}

void dh_caper_value_plan_arguments(struct dh_caper *c, LLVMValueRef fn)
{
    LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn));
    while (LLVMIsAAllocaInst(first))
        first = LLVMGetNextInstruction(first);
    for (LLVMValueRef p = LLVMGetFirstParam(fn); p && dh_caper_has(c, DH_CAPER_RULE_CAST) && c->integers;
         p = LLVMGetNextParam(p))
        if (integer_bits(LLVMTypeOf(p)) >= ADDRESS_BITS && fate_of(p) == CHANGED)
            dh_caper_act_add(c, DH_CAPER_BITS, first)->a = p;
}

bool dh_caper_value_is_stored(LLVMValueRef value)
{
    struct walk w = {.n = 0}, back;
    push(&w, value);
    for (LLVMValueRef v; (v = next(&w)) != NULL;)
        for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
            LLVMValueRef user = LLVMGetUser(use);
            if (!LLVMIsAInstruction(user) || LLVMIsAReturnInst(user) || LLVMIsAInvokeInst(user) ||
                LLVMIsAAtomicRMWInst(user) || LLVMIsAAtomicCmpXchgInst(user) ||
                (LLVMIsACallInst(user) && !dh_shim_is_debug(user)) ||
                (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) == v))
                return true;
            back = (struct walk){.n = 0};
            push_pieces(&back, user);
            for (size_t i = 0; i < back.n; i++)
                if (back.seen[i] == v)
                    push(&w, user);
            if (back.overflow)
                return true;
        }
    return w.overflow;
}
