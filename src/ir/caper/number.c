/*
 * number.c - what becomes of addresses that are computed with as integers.
 *
 * An address that is only compared, aligned or moved is still an address, and a scan finds it. One that was
 * changed otherwise escapes where that happens (value.c). An address that is kept at a distance from its
 * block is as good as one that was changed; if it has become a pointer again, the distance is looked at.
 */
#include "ir/caper/walk.h"
#include "ir/whole/library.h"

enum { FINE, KEPT, CHANGED }; /* KEPT: it goes somewhere as an integer */

static bool all_uses_mask(LLVMValueRef v)
{
    for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool mask = LLVMIsAInstruction(user) && LLVMGetInstructionOpcode(user) == LLVMAnd &&
                    dh_caper_is_small_constant(LLVMGetOperand(user, 1));
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
    return (bits & ((1ull << DH_CAPER_ADDRESS_BITS) - 1)) < 16;
}

/* Whether a function of the library takes it as a number that is no length: it may be kept where other
 * threads find it, as the offset of a file or the count of an eventfd. Those of the C++ library (strings,
 * hashes) take lengths and places, but for the streams, which print it. */
static bool takes_number(LLVMValueRef call, LLVMValueRef callee, const char *name, LLVMValueRef v)
{
    bool kept = LLVMIsDeclaration(callee) &&
                (!dh_caper_starts_with(name, "_Z") || dh_caper_starts_with(name, "_ZNSo"));
    const char *effects = kept ? dh_w_library(name) : NULL;
    for (unsigned i = 0; effects && i < LLVMGetNumArgOperands(call); i++)
        if (LLVMGetOperand(call, i) == v && !dh_caper_is_length(effects, (int)i))
            return true;
    return false;
}

/* Calls of functions keep the integer as it is, and so do these intrinsics. */
static int call_of(LLVMValueRef v, LLVMValueRef call)
{
    static const char *const keepers[] = {
        "llvm.umin.",    "llvm.umax.",       "llvm.smin.",   "llvm.smax.",      "llvm.expect",
        "llvm.ssa.copy", "llvm.ptrmask",     "llvm.masked.", "llvm.vector",     "llvm.assume",
        "llvm.lifetime", "llvm.is.constant", "llvm.vp.",     "llvm.objectsize", "llvm.mem"};
    size_t len;
    LLVMValueRef callee = dh_caper_called(call);
    const char *name = callee ? LLVMGetValueName2(callee, &len) : "";
    if (callee && dh_caper_starts_with(name, "llvm.x86."))
        return KEPT; /* call.c publishes what machine instructions are given */
    if (callee && LLVMGetIntrinsicID(callee) != 0)
        return dh_caper_is_one_of(name, keepers, DH_ARRAY_LEN(keepers)) ? KEPT : CHANGED;
    return callee && takes_number(call, callee, name, v) ? CHANGED : KEPT;
}

static bool is_new_block(LLVMValueRef object)
{
    const LLVMAttributeIndex result = (LLVMAttributeIndex)LLVMAttributeReturnIndex;
    unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7);
    return LLVMIsACallInst(object) &&
           (LLVMGetCallSiteEnumAttribute(object, result, kind) ||
            (dh_caper_called(object) && LLVMGetEnumAttributeAtIndex(dh_caper_called(object), result, kind)));
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

/* A value that is reached near its block and far from it is looked at twice. */
static void push(struct dh_caper_walk *w, LLVMValueRef v, bool far)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->seen[i] == v && (w->far[i] || !far))
            return;
    if (w->n == DH_CAPER_MAX_STEPS) {
        w->overflow = true;
        return;
    }
    w->far[w->n] = far;
    w->seen[w->n++] = v;
}

/* Where a sum or a difference lies, a scan does not find the block, unless what was added is as small as a
 * tag. */
static void add(struct dh_caper_walk *w, bool far, LLVMValueRef sum, LLVMValueRef added)
{
    enum { GRAIN = 16 };
    bool constant = LLVMIsAConstantInt(added) && LLVMGetIntTypeWidth(LLVMTypeOf(added)) <= 64;
    u64 n = constant ? LLVMConstIntGetZExtValue(added) : 0;
    push(w, sum, far || !constant || (n >= GRAIN && !all_uses_clear(sum, n)));
}

/* What is left of an address when bits are cleared is the beginning of something larger, unless they are a
 * tag or what was added to round it up. */
static void mask(struct dh_caper_walk *w, bool far, LLVMValueRef v, LLVMValueRef masked, LLVMValueRef by)
{
    bool known = LLVMIsAConstantInt(by) && LLVMGetIntTypeWidth(LLVMTypeOf(by)) <= 64;
    u64 cleared = known ? ~(u64)LLVMConstIntGetSExtValue(by) : ~0ull;
    LLVMValueRef added = LLVMIsABinaryOperator(v) && LLVMGetInstructionOpcode(v) == LLVMAdd
                             ? LLVMIsAConstantInt(LLVMGetOperand(v, 1))
                             : NULL;
    bool up = known && added && LLVMGetIntTypeWidth(LLVMTypeOf(added)) <= 64 &&
              LLVMConstIntGetZExtValue(added) == cleared;
    push(w, masked, far || (!up && (cleared & ((1ull << DH_CAPER_ADDRESS_BITS) - 1)) >= 16));
}

/* Whether the pointer goes anywhere but where it points. */
static bool is_pointer_kept(LLVMValueRef ptr)
{
    struct dh_caper_walk w = {.n = 0};
    dh_caper_walk_push(&w, ptr);
    for (LLVMValueRef v; (v = dh_caper_walk_next(&w)) != NULL;)
        for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
            LLVMValueRef user = LLVMGetUser(use);
            if (LLVMIsAGetElementPtrInst(user) || LLVMIsAPHINode(user) || LLVMIsASelectInst(user))
                dh_caper_walk_push(&w, user);
            else if (!LLVMIsALoadInst(user) && !LLVMIsAICmpInst(user) &&
                     !(LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != v))
                return true;
        }
    return w.overflow;
}

static int become_pointer(struct dh_caper_walk *w, bool far, LLVMValueRef ptr)
{
    if (!far || !is_pointer_kept(ptr))
        return FINE;
    if (w->n_moved == DH_CAPER_MAX_MOVED)
        return CHANGED;
    w->moved[w->n_moved++] = ptr;
    return FINE;
}

/* Whether a number, or what is computed from it, goes anywhere but into comparisons, indices, and lengths of
 * what is copied or filled here. */
static bool is_number_kept(LLVMValueRef number)
{
    struct dh_caper_walk w = {.n = 0};
    dh_caper_walk_push(&w, number);
    for (LLVMValueRef v; (v = dh_caper_walk_next(&w)) != NULL;)
        for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
            LLVMValueRef user = LLVMGetUser(use);
            if (LLVMIsABinaryOperator(user) || LLVMIsACastInst(user) || LLVMIsAPHINode(user) ||
                LLVMIsASelectInst(user) || LLVMIsAFreezeInst(user))
                dh_caper_walk_push(&w, user);
            else if (!LLVMIsACmpInst(user) && !LLVMIsASwitchInst(user) && !LLVMIsAGetElementPtrInst(user) &&
                     !LLVMIsAMemIntrinsic(user) && !dh_shim_is_debug(user))
                return true;
        }
    return w.overflow;
}

/* v is one of the two. */
static int difference_of(struct dh_caper_walk *w, bool far, LLVMValueRef v, LLVMValueRef sub)
{
    LLVMValueRef a = LLVMGetOperand(sub, 0), b = LLVMGetOperand(sub, 1);
    LLVMValueRef from = dh_caper_pointer_of(a), to = dh_caper_pointer_of(b);
    if (from && to)
        return are_apart(from, to) ? CHANGED : FINE;
    if (a != v || b == v)
        return (from ? !are_apart(from, v) : all_uses_mask(sub)) ? FINE : CHANGED;
    if (!to)
        add(w, far, sub, b);
    return to && are_apart(v, to) ? CHANGED : FINE;
}

static int kept(bool far, int fate)
{
    return far && fate == KEPT ? CHANGED : fate;
}

/* far: the value may be at a distance from its block. Kept there, it is as good as one that was changed. */
static int use_of(struct dh_caper_walk *w, bool far, LLVMValueRef v, LLVMValueRef user)
{
    if (!LLVMIsAInstruction(user))
        return CHANGED;
    LLVMValueRef other = NULL;
    if (LLVMIsABinaryOperator(user))
        other = LLVMGetOperand(user, LLVMGetOperand(user, 0) == v ? 1 : 0);
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMICmp:
    case LLVMSwitch:
        return FINE;
    case LLVMIntToPtr:
        return become_pointer(w, far, user);
    case LLVMGetElementPtr:
        w->index = true;
        return FINE;
    case LLVMPHI:
    case LLVMSelect:
    case LLVMFreeze:
    case LLVMInsertElement:
    case LLVMExtractElement:
    case LLVMShuffleVector:
        push(w, user, far);
        return FINE;
    case LLVMBitCast: /* a vector of the same words */
        if (dh_caper_integer_bits(LLVMTypeOf(user)) < DH_CAPER_ADDRESS_BITS)
            return CHANGED;
        push(w, user, far);
        return FINE;
    case LLVMAdd:
        add(w, far, user, other);
        return FINE;
    case LLVMSub:
        return difference_of(w, far, v, user);
    case LLVMAnd:
        if (!dh_caper_is_small_constant(other))
            mask(w, far, v, user, other);
        return FINE;
    case LLVMOr:
    case LLVMXor:
        push(w, user, far);
        return is_tag(other) ? FINE : CHANGED;
    case LLVMTrunc:
        return all_uses_mask(user) ? FINE : CHANGED;
    case LLVMCall:
    case LLVMInvoke:
        return kept(far, call_of(v, user));
    case LLVMStore:
    case LLVMCallBr:
    case LLVMRet:
    case LLVMInsertValue:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return kept(far, KEPT);
    default:
        return CHANGED;
    }
}

/* In code that was not optimised, numbers are in local variables between two steps. */
static bool is_in_local(LLVMValueRef value)
{
    return LLVMIsALoadInst(value) && LLVMIsAAllocaInst(LLVMGetOperand(value, 0));
}

/* What becomes of an address that is an integer now. */
static int follow(struct dh_caper_walk *w, LLVMValueRef value)
{
    const bool address = LLVMIsAPtrToIntInst(value) != NULL, local = is_in_local(value);
    int fate = FINE;
    *w = (struct dh_caper_walk){.n = 0};
    push(w, value, false);
    for (LLVMValueRef v; (v = dh_caper_walk_next(w)) != NULL;) {
        const bool far = w->far[w->done - 1];
        for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
            int one = use_of(w, far, v, LLVMGetUser(use));
            fate = one > fate ? one : fate;
        }
    }
    bool apart = (address && w->index) || (local && w->n_moved);
    return w->overflow || apart ? CHANGED : fate;
}

static int fate_of(LLVMValueRef value)
{
    struct dh_caper_walk w;
    return follow(&w, value);
}

static void look_at(struct dh_caper *c, LLVMValueRef fn)
{
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb && !c->integers;
         bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i && !c->integers; i = LLVMGetNextInstruction(i))
            c->integers = LLVMIsAPtrToIntInst(i) && dh_caper_value_carries(c, i) && fate_of(i) == KEPT;
}

void dh_caper_number_look(struct dh_caper *c)
{
    for (LLVMValueRef fn = LLVMGetFirstFunction(c->ir->module); fn && !c->integers;
         fn = LLVMGetNextFunction(fn))
        look_at(c, fn);
}

/* Integers from memory that may be addresses; see the top of the file. */
static bool is_address_from_memory(struct dh_caper *c, LLVMValueRef load)
{
    return dh_caper_integer_bits(LLVMTypeOf(load)) >= DH_CAPER_ADDRESS_BITS &&
           (c->integers || dh_shim_may_hold_pointer(load));
}

static bool is_integer_from_outside(struct dh_caper *c, LLVMValueRef v)
{
    return c->integers && (LLVMIsACallInst(v) || LLVMIsAInvokeInst(v)) &&
           dh_caper_integer_bits(LLVMTypeOf(v)) >= DH_CAPER_ADDRESS_BITS && dh_caper_value_carries(c, v);
}

/* Whether a pointer leads out of its block can be found out where it is made again. */
static bool can_be_followed(LLVMValueRef number, LLVMValueRef ptr)
{
    return LLVMGetInstructionParent(ptr) == LLVMGetInstructionParent(number) &&
           LLVMGetTypeKind(LLVMTypeOf(ptr)) == LLVMPointerTypeKind;
}

static void look_whether_moved(struct dh_caper *c, LLVMValueRef at, LLVMValueRef from, LLVMValueRef to)
{
    struct dh_caper_act *act = dh_caper_act_add(c, DH_CAPER_MOVED, at);
    act->a = from;
    act->b = to;
    act->after = true;
}

static void plan_number(struct dh_caper *c, LLVMValueRef number)
{
    struct dh_caper_walk w;
    LLVMValueRef from = LLVMGetOperand(number, 0);
    if (!dh_caper_value_carries(c, number))
        return;
    bool changed = follow(&w, number) == CHANGED;
    for (size_t i = 0; i < w.n_moved; i++)
        changed |= !can_be_followed(number, w.moved[i]);
    if (changed)
        dh_caper_act_add(c, DH_CAPER_PUBLISH, number)->a = from;
    for (size_t i = 0; i < w.n_moved && !changed; i++)
        look_whether_moved(c, w.moved[i], from, w.moved[i]);
}

/* A pointer of which bits are cleared, without becoming a number: __builtin_align_down. */
static void plan_masked(struct dh_caper *c, LLVMValueRef call)
{
    size_t len;
    LLVMValueRef callee = dh_caper_called(call), from = LLVMGetOperand(call, 0);
    if (!callee || !dh_caper_starts_with(LLVMGetValueName2(callee, &len), "llvm.ptrmask.") ||
        !dh_caper_value_carries(c, from) || !is_pointer_kept(call))
        return;
    if (LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMPointerTypeKind)
        look_whether_moved(c, call, from, call);
    else
        dh_caper_publish(c, call, from);
}

/* The distance of two pointers which the compiler cannot tell apart. If they lead into two blocks, it stands
 * for each of them where the other is known: offsets from a base, and pointers that are relative to their own
 * place. The program looks where it subtracts. */
static void plan_distance(struct dh_caper *c, LLVMValueRef sub)
{
    LLVMValueRef from = dh_caper_pointer_of(LLVMGetOperand(sub, 0));
    LLVMValueRef to = dh_caper_pointer_of(LLVMGetOperand(sub, 1));
    if (!from || !to || dh_shim_object(from) == dh_shim_object(to) || are_apart(from, to) ||
        LLVMGetTypeKind(LLVMTypeOf(from)) != LLVMPointerTypeKind || !is_number_kept(sub))
        return;
    if (dh_caper_value_carries(c, from))
        look_whether_moved(c, sub, from, to);
    if (dh_caper_value_carries(c, to))
        look_whether_moved(c, sub, to, from);
}

void dh_caper_number_plan(struct dh_caper *c, LLVMValueRef inst)
{
    if (!dh_caper_has(c, DH_CAPER_RULE_CAST))
        return;
    if (LLVMIsABinaryOperator(inst) && LLVMGetInstructionOpcode(inst) == LLVMSub)
        plan_distance(c, inst);
    if (LLVMIsACallInst(inst))
        plan_masked(c, inst);
    if (LLVMIsAPtrToIntInst(inst)) {
        plan_number(c, inst);
    } else if ((LLVMIsALoadInst(inst) ? is_address_from_memory(c, inst) : is_integer_from_outside(c, inst)) &&
               fate_of(inst) == CHANGED) {
        struct dh_caper_act *act = dh_caper_act_add(c, DH_CAPER_BITS, inst);
        act->a = inst;
        act->after = true;
    }
}

void dh_caper_number_plan_arguments(struct dh_caper *c, LLVMValueRef fn)
{
    LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn));
    while (LLVMIsAAllocaInst(first))
        first = LLVMGetNextInstruction(first);
    for (LLVMValueRef p = LLVMGetFirstParam(fn); p && dh_caper_has(c, DH_CAPER_RULE_CAST) && c->integers;
         p = LLVMGetNextParam(p))
        if (dh_caper_integer_bits(LLVMTypeOf(p)) >= DH_CAPER_ADDRESS_BITS && fate_of(p) == CHANGED)
            dh_caper_act_add(c, DH_CAPER_BITS, first)->a = p;
}
