/*
 * code.c - deadheat-code.so: what the functions of a file say, as one number each, for builds whose table
 * of pairs is embedded (field and Caper builds).
 *
 * A hive carries verdicts over to a later build. That the places of two accesses are the same does not show
 * that the source is: a line may be edited in place. So clang's code of each function is hashed before
 * anything is optimised, when it still follows the source alone: macros and types are resolved, and nothing
 * of other functions is in it yet. The hash is of what the code does. It leaves out what moves when other
 * parts of a file are edited: lines, the numbers of string constants and of metadata, names of local values.
 *
 * The hashes go with the bitcode as named metadata, !{unit, function, hash}, which every optimisation leaves
 * alone and the linker concatenates (whole/code.c). Metadata of a function itself would be lost where
 * the function is inlined and dropped.
 *
 * Not seen: the bodies of called functions, and the initial values of variables.
 */
#include "ir/whole/code.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "ir/shim_code.h"

/* A function on its way into its hash: every part says how long it is, or has a fixed length. */
struct code {
    XXH64_state_t hash;
    struct dh_arena arena;
    struct dh_map locals; /* arguments, blocks and instructions, by address -> u64 */
    u64 n_locals;
};

static void put(struct code *c, u64 n)
{
    XXH64_update(&c->hash, &n, sizeof(n));
}

static void put_text(struct code *c, const char *text, size_t len)
{
    put(c, len);
    XXH64_update(&c->hash, text, len);
}

/* Of a structure its members and not its name, which may have got a number. */
static void put_type(struct code *c, LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    put(c, kind);
    if (kind == LLVMIntegerTypeKind)
        put(c, LLVMGetIntTypeWidth(type));
    else if (kind == LLVMPointerTypeKind)
        put(c, LLVMGetPointerAddressSpace(type));
    else if (kind == LLVMArrayTypeKind)
        put(c, LLVMGetArrayLength2(type));
    else if (kind == LLVMVectorTypeKind || kind == LLVMScalableVectorTypeKind)
        put(c, LLVMGetVectorSize(type));
    else if (kind == LLVMStructTypeKind)
        put(c, LLVMIsPackedStruct(type) != 0);
    else if (kind == LLVMFunctionTypeKind)
        put(c, LLVMIsFunctionVarArg(type) != 0);
    unsigned n = LLVMGetNumContainedTypes(type);
    put(c, n);
    if (n == 0)
        return;
    LLVMTypeRef *parts = dh_util_alloc(n * sizeof(LLVMTypeRef));
    LLVMGetSubtypes(type, parts);
    for (unsigned i = 0; i < n; i++)
        put_type(c, parts[i]);
    free(parts);
}

static void put_constant(struct code *c, LLVMValueRef constant);

/* Constants that clang has named, such as strings, are their contents. */
static void put_global(struct code *c, LLVMValueRef global)
{
    LLVMValueRef variable = LLVMIsAGlobalVariable(global);
    LLVMValueRef contents = variable != NULL && LLVMGetLinkage(variable) == LLVMPrivateLinkage
                                ? LLVMGetInitializer(variable)
                                : NULL;
    put(c, contents != NULL);
    put(c, variable != NULL && LLVMIsThreadLocal(variable));
    if (contents != NULL) {
        put_constant(c, contents);
    } else {
        size_t len;
        const char *name = LLVMGetValueName2(global, &len);
        put_text(c, name, len);
    }
}

static void put_number(struct code *c, LLVMValueRef number)
{
    LLVMTypeRef type = LLVMTypeOf(number);
    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 64) {
        put(c, LLVMConstIntGetZExtValue(number));
        return;
    }
    /* LLVM-C cannot give the others without a loss; as text they are exact. */
    char *text = LLVMPrintValueToString(number);
    put_text(c, text, strlen(text));
    LLVMDisposeMessage(text);
}

static void put_data(struct code *c, LLVMValueRef data)
{
    LLVMTypeRef type = LLVMTypeOf(data);
    if (LLVMIsConstantString(data)) {
        size_t len;
        const char *text = LLVMGetAsString(data, &len);
        put_text(c, text, len);
        return;
    }
    u64 n = LLVMGetTypeKind(type) == LLVMArrayTypeKind ? LLVMGetArrayLength2(type) : LLVMGetVectorSize(type);
    for (u64 i = 0; i < n; i++)
        put_number(c, LLVMGetAggregateElement(data, (unsigned)i));
}

static void put_computation(struct code *c, LLVMValueRef constant)
{
    LLVMOpcode opcode = LLVMGetConstOpcode(constant);
    put(c, opcode);
    if (opcode == LLVMGetElementPtr)
        put_type(c, LLVMGetGEPSourceElementType(constant));
}

static void put_operand(struct code *c, LLVMValueRef value);

static void put_constant(struct code *c, LLVMValueRef constant)
{
    put(c, LLVMGetValueKind(constant));
    put_type(c, LLVMTypeOf(constant));
    if (LLVMIsAGlobalValue(constant)) {
        put_global(c, constant);
    } else if (LLVMIsAConstantInt(constant) || LLVMIsAConstantFP(constant)) {
        put_number(c, constant);
    } else if (LLVMIsAConstantDataSequential(constant)) {
        put_data(c, constant);
    } else {
        if (LLVMIsAConstantExpr(constant))
            put_computation(c, constant);
        int n = LLVMGetNumOperands(constant);
        put(c, (u64)n);
        for (int i = 0; i < n; i++)
            put_operand(c, LLVMGetOperand(constant, (unsigned)i));
    }
}

static void put_operand(struct code *c, LLVMValueRef value)
{
    const u64 *known = dh_map_get(&c->locals, &value, sizeof(LLVMValueRef));
    put(c, known != NULL);
    if (known != NULL) {
        put(c, *known);
        return;
    }
    put(c, LLVMGetValueKind(value));
    if (LLVMIsConstant(value)) {
        put_constant(c, value);
    } else if (LLVMIsAInlineAsm(value)) {
        size_t len;
        const char *text = LLVMGetInlineAsmAsmString(value, &len);
        put_text(c, text, len);
        text = LLVMGetInlineAsmConstraintString(value, &len);
        put_text(c, text, len);
    }
}

/* What arithmetic may be assumed not to do, which follows from its types and from clang's options. */
static void put_flags(struct code *c, LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMTrunc:
        put(c, LLVMGetNUW(inst) != 0);
        put(c, LLVMGetNSW(inst) != 0);
        break;
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMLShr:
    case LLVMAShr:
        put(c, LLVMGetExact(inst) != 0);
        break;
    case LLVMZExt:
    case LLVMUIToFP:
        put(c, LLVMGetNNeg(inst) != 0);
        break;
    case LLVMOr:
        put(c, LLVMGetIsDisjoint(inst) != 0);
        break;
    case LLVMGetElementPtr:
        put(c, LLVMGEPGetNoWrapFlags(inst));
        break;
    default:
        break;
    }
    if (LLVMCanValueUseFastMathFlags(inst))
        put(c, LLVMGetFastMathFlags(inst));
}

static void put_memory(struct code *c, LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    if (opcode != LLVMLoad && opcode != LLVMStore && opcode != LLVMFence && opcode != LLVMAtomicRMW &&
        opcode != LLVMAtomicCmpXchg)
        return;
    if (opcode != LLVMFence)
        put(c, LLVMGetVolatile(inst) != 0);
    if (opcode == LLVMAtomicCmpXchg) {
        put(c, LLVMGetCmpXchgSuccessOrdering(inst));
        put(c, LLVMGetCmpXchgFailureOrdering(inst));
        put(c, LLVMGetWeak(inst) != 0);
    } else {
        put(c, LLVMGetOrdering(inst));
        if (opcode == LLVMAtomicRMW)
            put(c, LLVMGetAtomicRMWBinOp(inst));
    }
    if (opcode == LLVMFence)
        put(c,
            LLVMIsAtomicSingleThread(inst) != 0); /* the fence for a handler of signals orders no threads */
}

static void put_parts(struct code *c, LLVMValueRef inst)
{
    if (LLVMIsAExtractValueInst(inst) || LLVMIsAInsertValueInst(inst)) {
        unsigned n = LLVMGetNumIndices(inst);
        for (unsigned i = 0; i < n; i++)
            put(c, LLVMGetIndices(inst)[i]);
    } else if (LLVMIsAShuffleVectorInst(inst)) {
        unsigned n = LLVMGetNumMaskElements(inst);
        for (unsigned i = 0; i < n; i++)
            put(c, (u64)LLVMGetMaskValue(inst, i));
    } else if (LLVMIsAPHINode(inst)) {
        unsigned n = LLVMCountIncoming(inst);
        for (unsigned i = 0; i < n; i++)
            put_operand(c, LLVMBasicBlockAsValue(LLVMGetIncomingBlock(inst, i)));
    }
}

static bool is_call(LLVMValueRef inst)
{
    return LLVMIsACallInst(inst) || LLVMIsAInvokeInst(inst) || LLVMIsACallBrInst(inst);
}

/* What an instruction has apart from its operands. */
static void put_details(struct code *c, LLVMValueRef inst)
{
    put(c, LLVMGetInstructionOpcode(inst));
    put_type(c, LLVMTypeOf(inst));
    put_flags(c, inst);
    put_memory(c, inst);
    put_parts(c, inst);
    if (LLVMIsAICmpInst(inst))
        put(c, LLVMGetICmpPredicate(inst));
    else if (LLVMIsAFCmpInst(inst))
        put(c, LLVMGetFCmpPredicate(inst));
    else if (LLVMIsAGetElementPtrInst(inst))
        put_type(c, LLVMGetGEPSourceElementType(inst));
    else if (LLVMIsAAllocaInst(inst))
        put_type(c, LLVMGetAllocatedType(inst));
    else if (is_call(inst))
        put_type(c, LLVMGetCalledFunctionType(inst));
    else if (LLVMIsALandingPadInst(inst))
        put(c, LLVMIsCleanup(inst) != 0);
}

/* The name of the function that is called, or "". */
static const char *callee_of(LLVMValueRef inst)
{
    size_t len;
    LLVMValueRef callee = is_call(inst) ? LLVMGetCalledValue(inst) : NULL;
    return callee != NULL && LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &len) : "";
}

static bool starts_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* The calls that do nothing: they tell the optimiser or a debugger something. */
static bool is_left_out(LLVMValueRef inst)
{
    static const char *const nothing[] = {"assume",     "dbg.",          "experimental.noalias.scope.decl",
                                          "invariant.", "lifetime.",     "pseudoprobe",
                                          "sideeffect", "var.annotation"};
    const char *name = callee_of(inst);
    if (!starts_with(name, "llvm."))
        return false;
    for (size_t i = 0; i < DH_ARRAY_LEN(nothing); i++)
        if (starts_with(name + strlen("llvm."), nothing[i]))
            return true;
    return false;
}

/* A failing assert and an annotated member say where they are, which is not part of what they do: as which
 * of their operands, two in a row, or -1. */
static int place_in(LLVMValueRef inst)
{
    const char *name = callee_of(inst);
    return strcmp(name, "__assert_fail") == 0 ? 1 : starts_with(name, "llvm.ptr.annotation") ? 2 : -1;
}

static void number(struct code *c, LLVMValueRef value)
{
    u64 *n = dh_arena_alloc(&c->arena, sizeof(*n));
    *n = c->n_locals++;
    dh_map_put(&c->locals, &value, sizeof(LLVMValueRef), n);
}

static void number_all(struct code *c, LLVMValueRef function)
{
    for (LLVMValueRef a = LLVMGetFirstParam(function); a; a = LLVMGetNextParam(a))
        number(c, a);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
         block = LLVMGetNextBasicBlock(block)) {
        number(c, LLVMBasicBlockAsValue(block));
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst))
            if (!is_left_out(inst))
                number(c, inst);
    }
}

static void put_instruction(struct code *c, LLVMValueRef inst)
{
    int n = LLVMGetNumOperands(inst), place = place_in(inst);
    put_details(c, inst);
    put(c, (u64)n);
    for (int i = 0; i < n; i++)
        if (place < 0 || (i != place && i != place + 1))
            put_operand(c, LLVMGetOperand(inst, (unsigned)i));
}

/* Never 0, which means that nothing is known. */
static u64 hash_of(LLVMValueRef function)
{
    struct code c = {.n_locals = 0};
    XXH64_reset(&c.hash, DH_CODE_VERSION);
    dh_map_init(&c.locals, &c.arena);
    number_all(&c, function);
    put_type(&c, LLVMGlobalGetValueType(function));
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
         block = LLVMGetNextBasicBlock(block)) {
        put_operand(&c, LLVMBasicBlockAsValue(block));
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst))
            if (!is_left_out(inst))
                put_instruction(&c, inst);
    }
    u64 h = XXH64_digest(&c.hash);
    dh_map_done(&c.locals);
    dh_arena_done(&c.arena);
    return h != 0 ? h : 1;
}

void dh_ir_code_note(LLVMModuleRef m)
{
    LLVMContextRef ctx = LLVMGetModuleContext(m);
    struct dh_shim_subprogram sub;
    if (LLVMGetNamedMetadata(m, DH_CODE_METADATA, strlen(DH_CODE_METADATA)))
        return;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || !dh_shim_subprogram(f, &sub))
            continue;
        char hash[17];
        snprintf(hash, sizeof(hash), "%" PRIx64, hash_of(f));
        LLVMMetadataRef entry[] = {LLVMMDStringInContext2(ctx, sub.unit, sub.unit_len),
                                   LLVMMDStringInContext2(ctx, sub.name, sub.name_len),
                                   LLVMMDStringInContext2(ctx, hash, strlen(hash))};
        LLVMMetadataRef node = LLVMMDNodeInContext2(ctx, entry, DH_ARRAY_LEN(entry));
        LLVMAddNamedMetadataOperand(m, DH_CODE_METADATA, LLVMMetadataAsValue(ctx, node));
    }
}
