/*
 * built.c - at the end of a field build's link: which functions of the program are ours, and which of their
 * instructions come from atomic accesses (base/built.h).
 *
 * On x86-64 an atomic load, and all but the strongest stores, become plain instructions. So each access gets
 * a mark that code generation turns into the address of its instruction ("pcsections"). The marks are set
 * after the last optimisation, because optimisations that merge two instructions drop unknown marks. They do
 * not change the code.
 */
#include "base/built.h"

#include <stdio.h>
#include <string.h>

#include "ir/ir.h"

struct marks {
    LLVMContextRef ctx;
    LLVMTargetDataRef layout;
    unsigned kind; /* of the metadata */
};

static LLVMMetadataRef name_of(const struct marks *m, const char *section)
{
    return LLVMMDStringInContext2(m->ctx, section, strlen(section));
}

static const char *name_section(char buf[32], u32 word)
{
    snprintf(buf, 32, DH_BUILT_ATOMICS "%02x", word);
    return buf;
}

static void mark(const struct marks *m, LLVMValueRef inst, u32 word)
{
    char section[32];
    LLVMMetadataRef name = name_of(m, name_section(section, word));
    LLVMSetMetadata(inst, m->kind, LLVMMetadataAsValue(m->ctx, LLVMMDNodeInContext2(m->ctx, &name, 1)));
}

static u32 order_bits(LLVMAtomicOrdering order)
{
    switch (order) {
    case LLVMAtomicOrderingAcquire:
        return DH_BUILT_ACQUIRE;
    case LLVMAtomicOrderingRelease:
        return DH_BUILT_RELEASE;
    case LLVMAtomicOrderingAcquireRelease:
    case LLVMAtomicOrderingSequentiallyConsistent:
        return DH_BUILT_ACQUIRE | DH_BUILT_RELEASE;
    default:
        return 0;
    }
}

/* What is wider than a register is done by libatomic, with locks of its own. */
static u32 size_bits(const struct marks *m, LLVMTypeRef type)
{
    return LLVMABISizeOfType(m->layout, type) > 8 ? DH_BUILT_LIBRARY : 0;
}

/* 0: it is no atomic access. */
static u32 word_of(const struct marks *m, LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMLoad:
        if (LLVMGetOrdering(inst) == LLVMAtomicOrderingNotAtomic)
            return 0;
        return DH_BUILT_READ | (order_bits(LLVMGetOrdering(inst)) & DH_BUILT_ACQUIRE) |
               size_bits(m, LLVMTypeOf(inst));
    case LLVMStore:
        if (LLVMGetOrdering(inst) == LLVMAtomicOrderingNotAtomic)
            return 0;
        return DH_BUILT_WRITE | (order_bits(LLVMGetOrdering(inst)) & DH_BUILT_RELEASE) |
               size_bits(m, LLVMTypeOf(LLVMGetOperand(inst, 0)));
    case LLVMAtomicRMW:
        return DH_BUILT_READ | DH_BUILT_WRITE | order_bits(LLVMGetOrdering(inst)) |
               size_bits(m, LLVMTypeOf(LLVMGetOperand(inst, 1)));
    case LLVMAtomicCmpXchg:
        return DH_BUILT_READ | DH_BUILT_WRITE | order_bits(LLVMGetCmpXchgSuccessOrdering(inst)) |
               order_bits(LLVMGetCmpXchgFailureOrdering(inst)) |
               size_bits(m, LLVMTypeOf(LLVMGetOperand(inst, 1)));
    case LLVMFence:
        return LLVMIsAtomicSingleThread(inst) ? 0 : DH_BUILT_FENCE;
    case LLVMCall:
    case LLVMInvoke:
    case LLVMCallBr:
        if (LLVMIsAInlineAsm(LLVMGetCalledValue(inst)) != NULL)
            return dh_ir_assembly_word(inst);
        return dh_ir_atomic_is_libcall(inst) ? DH_BUILT_LIBRARY : 0;
    default:
        return 0;
    }
}

/* Fences, and what becomes a call of libatomic, need not have an instruction of their own, and assembly may
 * have many: their function is marked. */
static void mark_function(const struct marks *m, LLVMValueRef fn)
{
    static const u32 of_function[] = {DH_BUILT_FENCE, DH_BUILT_LIBRARY, DH_BUILT_ASSEMBLY};
    LLVMMetadataRef names[1 + DH_ARRAY_LEN(of_function)] = {name_of(m, DH_BUILT_CODE)};
    size_t n = 1;
    u32 all = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            u32 word = word_of(m, i);
            all |= word;
            if (word && !(word & (DH_BUILT_FENCE | DH_BUILT_LIBRARY | DH_BUILT_ASSEMBLY)))
                mark(m, i, word);
        }
    }
    for (size_t i = 0; i < DH_ARRAY_LEN(of_function); i++) {
        char section[32];
        if (all & of_function[i])
            names[n++] = name_of(m, name_section(section, of_function[i]));
    }
    LLVMGlobalSetMetadata(fn, m->kind, LLVMMDNodeInContext2(m->ctx, names, n));
}

void dh_ir_built_mark(LLVMModuleRef module)
{
    static const char kind[] = "pcsections";
    LLVMContextRef ctx = LLVMGetModuleContext(module);
    const struct marks m = {ctx, LLVMGetModuleDataLayout(module),
                            LLVMGetMDKindIDInContext(ctx, kind, sizeof(kind) - 1)};
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        if (!LLVMIsDeclaration(fn))
            mark_function(&m, fn);
}
