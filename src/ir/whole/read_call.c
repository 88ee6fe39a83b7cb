/*
 * read_call.c - calls of the program's own functions, of known library functions, of intrinsics, and of
 * unknown functions.
 *
 * What is known about a library function (library.def) is translated into the same operations as
 * instructions, so later phases need not know names.
 */
#include "ir/whole/read_call.h"

#include <string.h>

u32 dh_w_call_add(struct dh_w_reader *r, u32 fn, dh_w_value callee, u32 n)
{
    struct dh_w_fn *f = r->fn;
    f->calls = dh_util_grow(f->calls, f->n_calls, &f->cap_calls, sizeof *f->calls);
    f->calls[f->n_calls] =
        (struct dh_w_call){fn, callee, n, dh_arena_array(&r->w->arena, n + 1, sizeof(dh_w_value)), NULL};
    return (u32)f->n_calls++;
}

dh_w_value dh_w_argument(struct dh_w_reader *r, LLVMValueRef inst, int n)
{
    if (n < 0 || (unsigned)n >= LLVMGetNumArgOperands(inst))
        return DH_W_NONE;
    return dh_w_operand(r, LLVMGetOperand(inst, (unsigned)n));
}

bool dh_w_is_pointer(LLVMValueRef inst, unsigned n)
{
    return LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(inst, n))) == LLVMPointerTypeKind;
}

struct dh_w_op *dh_w_op_unary(struct dh_w_reader *r, LLVMValueRef inst, enum dh_w_kind kind, dh_w_value dst,
                              dh_w_value a)
{
    struct dh_w_op *op = dh_w_op_add(r, kind, inst);
    op->dst = dst;
    op->a = a;
    return op;
}

void dh_w_op_keep(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value a, dh_w_value b)
{
    dh_w_op_unary(r, inst, DH_W_STORE, DH_W_NONE, a)->b = b;
}

dh_w_value dh_w_op_loaded(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value a, int offset)
{
    if (a == DH_W_NONE)
        return DH_W_NONE;
    dh_w_value at = dh_w_fresh(r), value = dh_w_fresh(r);
    if (offset == DH_W_ANYWHERE)
        dh_w_op_unary(r, inst, DH_W_ANY, at, a);
    else
        dh_w_op_unary(r, inst, DH_W_OFFSET, at, a)->off = offset;
    dh_w_op_unary(r, inst, DH_W_LOAD, value, at);
    return value;
}

static bool is_byval(LLVMValueRef call, u32 n)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", strlen("byval"));
    return LLVMGetCallSiteEnumAttribute(call, n + 1, kind) != NULL;
}

/* Among the variable arguments, a structure that is passed in memory is there itself, and not its address. */
static dh_w_value passed(struct dh_w_reader *r, LLVMValueRef inst, u32 n)
{
    dh_w_value arg = dh_w_argument(r, inst, (int)n);
    bool whole = n >= LLVMCountParamTypes(LLVMGetCalledFunctionType(inst)) && is_byval(inst, n);
    return whole ? dh_w_op_loaded(r, inst, arg, DH_W_ANYWHERE) : arg;
}

/* A call of the program's own code, or through a pointer. */
static void read_own(struct dh_w_reader *r, LLVMValueRef inst, u32 fn, dh_w_value callee)
{
    u32 n = LLVMGetNumArgOperands(inst);
    u32 call = dh_w_call_add(r, fn, callee, n);
    for (u32 i = 0; i < n; i++)
        r->fn->calls[call].args[i] = passed(r, inst, i);
    r->fn->calls[call].inst = inst;
    dh_w_value dst = dh_w_result(r, inst);
    struct dh_w_op *op = dh_w_op_add(r, DH_W_CALL, inst);
    op->call = call;
    op->dst = dst;
}

/* The C++ library keeps no function, and has no threads but std::thread, which is known. */
static bool is_standard(LLVMValueRef inst)
{
    static const char *const prefixes[] = {"_ZNSt",          "_ZNKSt",        "_ZSt",    "_ZNSo",
                                           "_ZNSi",          "_ZNSs",         "_ZNKSs",  "__cxa_",
                                           "_ZNK9__gnu_cxx", "_ZN9__gnu_cxx", "_Unwind_"};
    size_t len;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(inst), &len);
    for (size_t i = 0; i < DH_ARRAY_LEN(prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* What outside code was given it may keep, and call later whatever functions it can reach from there. */
static void give_away(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value all)
{
    dh_w_value anywhere = dh_w_fresh(r), reached = dh_w_fresh(r);
    dh_w_op_unary(r, inst, DH_W_ANY, anywhere, all);
    dh_w_op_unary(r, inst, DH_W_ANY, reached, all);
    dh_w_op_unary(r, inst, DH_W_LOAD, reached, anywhere);
    dh_w_read_fork(r, inst, DH_W_OUTSIDER, DH_W_NONE, reached, all)->flags |= DH_W_UNKNOWN;
}

/* A function that is neither ours nor known: it may call what it is given, and returns that or memory of its
 * own. */
static void read_unknown(struct dh_w_reader *r, LLVMValueRef inst)
{
    dh_w_assume(r->w, DH_W_ASSUME_EXTERNAL, 1, inst);
    enum { HANDED_ON = 4 }; /* to each function that it may call: any of its own arguments */
    u32 n = LLVMGetNumArgOperands(inst);
    dh_w_value all = dh_w_fresh(r);
    for (u32 i = 0; i < n; i++)
        dh_w_op_copy(r, inst, all, dh_w_argument(r, inst, (int)i));
    for (u32 i = 0; i < n; i++) {
        if (!dh_w_is_pointer(inst, i) || dh_w_argument(r, inst, (int)i) == DH_W_NONE)
            continue;
        u32 call = dh_w_call_add(r, DH_W_NONE, dh_w_argument(r, inst, (int)i), HANDED_ON);
        for (u32 k = 0; k < HANDED_ON; k++)
            r->fn->calls[call].args[k] = all;
        dh_w_op_add(r, DH_W_BACK, inst)->call = call;
    }
    bool known = is_standard(inst);
    if (!known)
        give_away(r, inst, all);
    if (dh_w_holds_pointers(LLVMTypeOf(inst))) {
        dh_w_assume(r->w, DH_W_ASSUME_FOREIGN, 1, inst);
        struct dh_w_op *op = dh_w_op_unary(r, inst, DH_W_FOREIGN, dh_w_result(r, inst), DH_W_NONE);
        op->flags |= known ? 0 : DH_W_UNKNOWN;
        op->b = all;
        dh_w_op_unary(r, inst, DH_W_ANY, dh_w_result(r, inst), all);
    }
}

static void read_masked(struct dh_w_reader *r, LLVMValueRef inst, bool write)
{
    dh_w_value dst = dh_w_result(r, inst);
    struct dh_w_op *op = dh_w_op_add(r, write ? DH_W_STORE : DH_W_LOAD, inst);
    dh_w_value at = dh_w_argument(r, inst, write ? 1 : 0), value = write ? dh_w_argument(r, inst, 0) : dst;
    op->dst = write ? DH_W_NONE : dst;
    op->a = at;
    op->b = write ? value : DH_W_NONE;
    LLVMTypeRef type = write ? LLVMTypeOf(LLVMGetOperand(inst, 0)) : LLVMTypeOf(inst);
    dh_w_op_site(r, op, write ? DH_PAIRS_WRITE : DH_PAIRS_READ, dh_w_size(r->w, type));
    dh_w_read_words(r, inst, type, at, value, write);
}

static void read_thread_local(struct dh_w_reader *r, LLVMValueRef inst)
{
    LLVMValueRef global = LLVMGetOperand(inst, 0);
    dh_w_value dst = dh_w_result(r, inst);
    if (LLVMIsAGlobalVariable(global) == NULL) {
        dh_w_op_copy(r, inst, dst, dh_w_operand(r, global));
        return;
    }
    u32 number = dh_w_global(r->w, global);
    struct dh_w_op *op = dh_w_op_add(r, DH_W_TLS, inst);
    op->dst = dst;
    op->b = number;
}

static void read_intrinsic(struct dh_w_reader *r, LLVMValueRef inst, const char *name)
{
    static const struct {
        const char *prefix, *effects;
    } known[] = {
        {"llvm.memcpy", "m0,1:2"},     {"llvm.memmove", "m0,1:2"},  {"llvm.memset", "w0:2"},
        {"llvm.ptrmask", "=0"},        {"llvm.launder", "=0"},      {"llvm.strip", "=0"},
        {"llvm.ptr.annotation", "=0"}, {"llvm.va_copy", "m0,1=24"}, {"llvm.trap", "stop"},
    };
    for (size_t i = 0; i < DH_ARRAY_LEN(known); i++) {
        if (strncmp(name, known[i].prefix, strlen(known[i].prefix)) != 0)
            continue;
        dh_w_read_effects(r, inst, known[i].effects);
        return;
    }
    if (strncmp(name, "llvm.threadlocal.address", 24) == 0)
        read_thread_local(r, inst);
    else if (strncmp(name, "llvm.va_start", 13) == 0)
        dh_w_op_unary(r, inst, DH_W_VASTART, DH_W_NONE, dh_w_argument(r, inst, 0));
    else if (strncmp(name, "llvm.masked.load", 16) == 0 || strncmp(name, "llvm.masked.gather", 18) == 0)
        read_masked(r, inst, false);
    else if (strncmp(name, "llvm.masked.store", 17) == 0 || strncmp(name, "llvm.masked.scatter", 19) == 0)
        read_masked(r, inst, true);
}

static bool is_memory_operand(LLVMValueRef call, unsigned n)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("elementtype", strlen("elementtype"));
    return LLVMGetCallSiteEnumAttribute(call, n + 1, kind) != NULL;
}

/* Whatever goes in may come out: in registers, and in the memory operands. */
static void read_asm(struct dh_w_reader *r, LLVMValueRef inst, LLVMValueRef callee)
{
    size_t len;
    LLVMGetInlineAsmAsmString(callee, &len);
    if (len != 0) /* an empty one is only a barrier for the compiler */
        dh_w_assume(r->w, DH_W_ASSUME_ASM, 1, inst);
    dh_w_value all = dh_w_fresh(r);
    unsigned n = LLVMGetNumArgOperands(inst);
    for (unsigned i = 0; i < n; i++) {
        dh_w_value a = dh_w_argument(r, inst, (int)i);
        if (a == DH_W_NONE)
            continue;
        if (is_memory_operand(inst, i))
            dh_w_op_unary(r, inst, DH_W_LOAD, all, a);
        else
            dh_w_op_copy(r, inst, all, a);
    }
    for (unsigned i = 0; i < n; i++)
        if (is_memory_operand(inst, i) && dh_w_argument(r, inst, (int)i) != DH_W_NONE)
            dh_w_op_keep(r, inst, dh_w_argument(r, inst, (int)i), all);
    dh_w_op_copy(r, inst, dh_w_result(r, inst), all);
}

void dh_w_read_call(struct dh_w_reader *r, LLVMValueRef inst)
{
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    if (LLVMIsAInlineAsm(callee) != NULL) {
        read_asm(r, inst, callee);
        return;
    }
    while (LLVMIsAGlobalAlias(callee) != NULL)
        callee = LLVMAliasGetAliasee(callee);
    if (LLVMIsAFunction(callee) == NULL) {
        read_own(r, inst, DH_W_NONE, dh_w_operand(r, callee));
        return;
    }
    size_t len;
    const char *name = LLVMGetValueName2(callee, &len);
    if (strncmp(name, "llvm.", 5) == 0) {
        read_intrinsic(r, inst, name);
        return;
    }
    u32 fn = dh_w_table_get(&r->w->fn_of, DH_W_KEY((u64)(uptr)callee));
    if (r->w->fns[fn].defined) {
        if (strcmp(name, "_ZNSt10unique_ptrINSt6thread6_StateESt14default_deleteIS1_EED2Ev") == 0 &&
            dh_w_read_is_handed_over(inst))
            return;
        read_own(r, inst, fn, DH_W_NONE);
        return;
    }
    const char *effects = dh_w_library(name);
    if (effects == NULL)
        read_unknown(r, inst);
    else
        dh_w_read_effects(r, inst, effects);
}
