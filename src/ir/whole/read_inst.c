/*
 * read_inst.c - translates one LLVM instruction into operations.
 *
 * Vectors, structures and wide integers in registers are one value that holds all their pointers. Sums of
 * integers are tracked only in functions that convert integers to pointers; elsewhere they are lengths and
 * counters. Setting bits in pointers, shifting and mixing them is tracked everywhere.
 */
#include <string.h>

#include "ir/whole/read.h"

static u8 atomic_access(LLVMValueRef inst, u8 plain, u8 atomic)
{
    return LLVMGetOrdering(inst) == LLVMAtomicOrderingNotAtomic ? plain : atomic;
}

/* A structure or a vector in a register has more words than the first: each is read, or written, where it
 * lies. */
void dh_w_read_words(struct dh_w_reader *r, LLVMValueRef inst, LLVMTypeRef type, dh_w_value at,
                     dh_w_value value, bool write)
{
    enum { WORD = 8, MAX_WORDS = 64 };
    u32 size = dh_w_size(r->w, type);
    if (at == DH_W_NONE || value == DH_W_NONE || size <= WORD)
        return;
    bool any = size > WORD * MAX_WORDS;
    for (u32 off = WORD; off < size; off += any ? size : WORD) {
        dh_w_value word = dh_w_fresh(r);
        struct dh_w_op *op = dh_w_op_add(r, any ? DH_W_ANY : DH_W_OFFSET, inst);
        op->dst = word;
        op->a = at;
        op->off = any ? 0 : off;
        op = dh_w_op_add(r, write ? DH_W_STORE : DH_W_LOAD, inst);
        op->a = word;
        op->dst = write ? DH_W_NONE : value;
        op->b = write ? value : DH_W_NONE;
    }
}

/* Whether an atomic access leaves out an order that it could have: of a read acquire, of a write release. */
static bool is_relaxed(LLVMValueRef inst)
{
    if (LLVMIsAAtomicCmpXchgInst(inst) != NULL) {
        LLVMAtomicOrdering done = LLVMGetCmpXchgSuccessOrdering(inst),
                           not_done = LLVMGetCmpXchgFailureOrdering(inst);
        return (done != LLVMAtomicOrderingAcquireRelease &&
                done != LLVMAtomicOrderingSequentiallyConsistent) ||
               (not_done != LLVMAtomicOrderingAcquire &&
                not_done != LLVMAtomicOrderingSequentiallyConsistent);
    }
    LLVMAtomicOrdering order = LLVMGetOrdering(inst);
    LLVMAtomicOrdering full = LLVMIsALoadInst(inst) != NULL    ? LLVMAtomicOrderingAcquire
                              : LLVMIsAStoreInst(inst) != NULL ? LLVMAtomicOrderingRelease
                                                               : LLVMAtomicOrderingAcquireRelease;
    return order != LLVMAtomicOrderingNotAtomic && order != full &&
           order != LLVMAtomicOrderingSequentiallyConsistent;
}

static u8 relaxed_flag(const struct dh_w_reader *r, LLVMValueRef inst)
{
    return r->w->relaxed && is_relaxed(inst) ? DH_W_RELAXED : 0;
}

static void read_load(struct dh_w_reader *r, LLVMValueRef inst)
{
    struct dh_w_op *op = dh_w_op_add(r, DH_W_LOAD, inst);
    op->dst = dh_w_read_is_handed_over(inst) ? DH_W_NONE : dh_w_result(r, inst);
    op->a = dh_w_operand(r, LLVMGetOperand(inst, 0));
    op->flags |= LLVMGetVolatile(inst) ? DH_W_VOLATILE : 0;
    op->flags |= relaxed_flag(r, inst);
    dh_w_op_site(r, op, atomic_access(inst, DH_PAIRS_READ, DH_PAIRS_ATOMIC_READ),
                 dh_w_size(r->w, LLVMTypeOf(inst)));
    dh_w_read_words(r, inst, LLVMTypeOf(inst), dh_w_operand(r, LLVMGetOperand(inst, 0)), dh_w_result(r, inst),
                    false);
    dh_w_read_guard(r, inst);
}

static void read_store(struct dh_w_reader *r, LLVMValueRef inst)
{
    LLVMValueRef value = LLVMGetOperand(inst, 0);
    dh_w_value b = dh_w_operand(r, value);
    struct dh_w_op *op = dh_w_op_add(r, DH_W_STORE, inst);
    op->a = dh_w_operand(r, LLVMGetOperand(inst, 1));
    op->b = b;
    op->flags |= LLVMGetVolatile(inst) ? DH_W_VOLATILE : 0;
    op->flags |= relaxed_flag(r, inst);
    dh_w_op_site(r, op, atomic_access(inst, DH_PAIRS_WRITE, DH_PAIRS_ATOMIC_WRITE),
                 dh_w_size(r->w, LLVMTypeOf(value)));
    dh_w_read_words(r, inst, LLVMTypeOf(value), dh_w_operand(r, LLVMGetOperand(inst, 1)), b, true);
}

static void read_update(struct dh_w_reader *r, LLVMValueRef inst, unsigned value)
{
    struct dh_w_op *op = dh_w_op_add(r, DH_W_UPDATE, inst);
    op->dst = dh_w_result(r, inst);
    op->a = dh_w_operand(r, LLVMGetOperand(inst, 0));
    op->b = dh_w_operand(r, LLVMGetOperand(inst, value));
    op->flags |= relaxed_flag(r, inst);
    dh_w_value at = op->a, from = op->b, dst = op->dst;
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(inst, value));
    dh_w_op_site(r, op, DH_PAIRS_ATOMIC_UPDATE, dh_w_size(r->w, type));
    dh_w_read_words(r, inst, type, at, dst, false);
    dh_w_read_words(r, inst, type, at, from, true);
}

/*
 * `s->text + n` is, optimised, often computed as `(s + n) + offsetof(text)`: an index of bytes from the start
 * of the structure, which may lead anywhere, and then a constant. Read the other way round it stays in the
 * array. Only for steps smaller than a pointer: larger ones name elements, by which locks are compared.
 */
static bool read_bytes_of_member(struct dh_w_reader *r, LLVMValueRef inst, const struct dh_w_step *last,
                                 size_t n)
{
    enum { POINTER = 8 };
    LLVMValueRef base = LLVMGetOperand(inst, 0);
    struct dh_w_step steps[DH_W_MAX_STEPS];
    if (n != 1 || last->stride != 0 || LLVMIsAGetElementPtrInst(base) == NULL ||
        LLVMGetNumOperands(base) != 2 || dh_w_gep(r->w, base, steps) != 1 || steps[0].stride == 0 ||
        steps[0].stride >= POINTER)
        return false;
    dh_w_value from = dh_w_operand(r, LLVMGetOperand(base, 0)), member = dh_w_fresh(r);
    if (from == DH_W_NONE)
        return false;
    struct dh_w_op *op = dh_w_op_add(r, DH_W_OFFSET, inst);
    op->a = from;
    op->dst = member;
    op->off = last->off + steps[0].off;
    op = dh_w_op_add(r, DH_W_ELEMENT, inst);
    op->a = member;
    op->dst = dh_w_result(r, inst);
    op->stride = steps[0].stride;
    op->index = steps[0].index;
    op->length = 0;
    return true;
}

static void read_gep(struct dh_w_reader *r, LLVMValueRef inst)
{
    dh_w_value at = dh_w_operand(r, LLVMGetOperand(inst, 0)), dst = dh_w_result(r, inst);
    struct dh_w_step steps[DH_W_MAX_STEPS];
    size_t n = dh_w_gep(r->w, inst, steps);
    if (at == DH_W_NONE)
        return;
    int64_t choices[DH_W_MAX_CHOICES];
    size_t many = dh_w_gep_choices(r->w, inst, choices);
    for (size_t i = 0; i < many; i++) {
        struct dh_w_op *op = dh_w_op_add(r, DH_W_OFFSET, inst);
        op->a = at;
        op->dst = dst;
        op->off = choices[i];
    }
    if (many > 0 || read_bytes_of_member(r, inst, steps, n))
        return;
    if (n == 0) {
        struct dh_w_op *op = dh_w_op_add(r, DH_W_ANY, inst);
        op->a = at;
        op->dst = dst;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        dh_w_value to = i + 1 == n ? dst : dh_w_fresh(r);
        /* The same element, computed again in the same block, is the same value: locks are compared by it. */
        struct dh_w_key key = DH_W_KEY(at, (u64)steps[i].off, steps[i].stride, (u64)(uptr)steps[i].index);
        u32 known = steps[i].stride != 0 ? dh_w_table_get(&r->elements, key) : DH_W_TABLE_NONE;
        if (known != DH_W_TABLE_NONE) {
            if (i + 1 == n)
                dh_w_op_copy(r, inst, dst, known);
            at = known;
            continue;
        }
        if (steps[i].stride != 0)
            dh_w_table_put(&r->elements, key, to);
        struct dh_w_op *op = dh_w_op_add(r, steps[i].stride != 0 ? DH_W_ELEMENT : DH_W_OFFSET, inst);
        op->a = at;
        op->dst = to;
        op->off = steps[i].off;
        op->stride = steps[i].stride;
        op->index = steps[i].index;
        op->length = steps[i].length;
        at = to;
    }
}

static void read_alloca(struct dh_w_reader *r, LLVMValueRef inst)
{
    struct dh_w_op *op = dh_w_op_add(r, DH_W_ALLOCA, inst);
    op->dst = dh_w_result(r, inst);
    LLVMValueRef count = LLVMGetOperand(inst, 0);
    u32 size = dh_w_size(r->w, LLVMGetAllocatedType(inst));
    bool one = LLVMIsAConstantInt(count) != NULL && LLVMConstIntGetZExtValue(count) == 1;
    op->length = one ? size : DH_PTS_ANY;
}

static void read_inttoptr(struct dh_w_reader *r, LLVMValueRef inst)
{
    dh_w_value a = dh_w_operand(r, LLVMGetOperand(inst, 0));
    dh_w_op_copy(r, inst, dh_w_result(r, inst), a);
    dh_w_assume(r->w, DH_W_ASSUME_INTTOPTR, 1, inst);
}

/* Unions of the operands from `from` on: phi, select, insertvalue. */
static void read_copies(struct dh_w_reader *r, LLVMValueRef inst, unsigned from, unsigned to)
{
    dh_w_value dst = dh_w_result(r, inst);
    for (unsigned i = from; i < to && dst != DH_W_NONE; i++)
        dh_w_op_copy(r, inst, dst, dh_w_operand(r, LLVMGetOperand(inst, i)));
}

/* Each source with the block it comes from. */
static void read_phi(struct dh_w_reader *r, LLVMValueRef inst)
{
    dh_w_value dst = dh_w_result(r, inst);
    for (unsigned i = 0; i < LLVMCountIncoming(inst) && dst != DH_W_NONE; i++) {
        size_t before = r->fn->n_ops;
        dh_w_op_copy(r, inst, dst, dh_w_operand(r, LLVMGetIncomingValue(inst, i)));
        u32 from = dh_w_table_get(&r->blocks, DH_W_KEY((u64)(uptr)LLVMGetIncomingBlock(inst, i)));
        if (r->fn->n_ops > before)
            r->fn->ops[before].stride = from + 1;
    }
}

/* Two words that are exchanged as one (a pointer and a count), put together and taken apart again. */
static bool is_wide(LLVMValueRef v)
{
    enum { WORD_BITS = 64 };
    LLVMTypeRef type = LLVMTypeOf(v);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) > WORD_BITS;
}

static void read_arithmetic(struct dh_w_reader *r, LLVMValueRef inst)
{
    dh_w_value dst = dh_w_result(r, inst);
    LLVMOpcode code = LLVMGetInstructionOpcode(inst);
    bool sum = code == LLVMAdd || code == LLVMSub;
    if ((!r->makes_pointers && sum) || dst == DH_W_NONE)
        return;
    /* a - b is a pointer only if a is one and b is none; a << b is one if a is. */
    unsigned n = code == LLVMAdd || code == LLVMXor || code == LLVMOr || code == LLVMAnd ? 2 : 1;
    for (unsigned i = 0; i < n; i++) {
        dh_w_value a = dh_w_operand(r, LLVMGetOperand(inst, i));
        if (a == DH_W_NONE)
            continue;
        struct dh_w_op *op = dh_w_op_add(r, is_wide(inst) ? DH_W_COPY : DH_W_ANY, inst);
        op->dst = dst;
        op->a = a;
    }
}

void dh_w_read_inst(struct dh_w_reader *r, LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMLoad:
        read_load(r, inst);
        break;
    case LLVMStore:
        read_store(r, inst);
        break;
    case LLVMAtomicRMW:
        read_update(r, inst, 1);
        break;
    case LLVMAtomicCmpXchg:
        read_update(r, inst, 2);
        break;
    case LLVMGetElementPtr:
        read_gep(r, inst);
        break;
    case LLVMAlloca:
        read_alloca(r, inst);
        break;
    case LLVMIntToPtr:
        read_inttoptr(r, inst);
        break;
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMPtrToInt:
    case LLVMFreeze:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMExtractValue:
    case LLVMExtractElement:
        read_copies(r, inst, 0, 1);
        break;
    case LLVMInsertValue:
    case LLVMInsertElement:
    case LLVMShuffleVector:
        read_copies(r, inst, 0, 2);
        break;
    case LLVMSelect:
        read_copies(r, inst, 1, 3);
        break;
    case LLVMPHI:
        read_phi(r, inst);
        break;
    case LLVMAdd:
    case LLVMSub:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
        read_arithmetic(r, inst);
        break;
    case LLVMCall:
    case LLVMInvoke:
    case LLVMCallBr:
        dh_w_read_call(r, inst);
        break;
    case LLVMLandingPad: {
        struct dh_w_op *op = dh_w_op_add(r, DH_W_CATCH, inst);
        op->dst = dh_w_result(r, inst);
        break;
    }
    default:
        break;
    }
}
