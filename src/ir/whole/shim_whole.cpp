/*
 * shim_whole.cpp - lends the whole-program analysis what LLVM-C lacks: loops, and names in debug information.
 */
#include "shim_whole.h"

#include <climits>

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TypeBasedAliasAnalysis.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

void dh_shim_each_loop(LLVMValueRef fn, void (*on_loop)(void *, unsigned),
                       void (*on_block)(void *, unsigned, unsigned), void *arg)
{
    Function &f = *unwrap<Function>(fn);
    DominatorTree tree(f);
    LoopInfo loops(tree);
    DenseMap<const Loop *, unsigned> number;
    for (const Loop *loop : loops.getLoopsInPreorder()) {
        const Loop *parent = loop->getParentLoop();
        on_loop(arg, parent ? number[parent] : UINT_MAX);
        unsigned n = number.size();
        number[loop] = n;
    }
    unsigned block = 0;
    for (const BasicBlock &bb : f) {
        if (const Loop *loop = loops.getLoopFor(&bb))
            on_block(arg, block, number[loop]);
        block++;
    }
}

const char *dh_shim_source_function(LLVMValueRef inst, size_t *ret_len)
{
    StringRef name;
    if (const DebugLoc &loc = unwrap<Instruction>(inst)->getDebugLoc())
        if (const DISubprogram *sub = loc->getScope()->getSubprogram())
            name = sub->getLinkageName().empty() ? sub->getName() : sub->getLinkageName();
    *ret_len = name.size();
    return name.empty() ? "" : name.data();
}

const char *dh_shim_unit(LLVMValueRef fn, size_t *ret_len)
{
    StringRef name;
    if (const DISubprogram *sub = unwrap<Function>(fn)->getSubprogram())
        if (const DICompileUnit *unit = sub->getUnit())
            name = unit->getFilename();
    *ret_len = name.size();
    return name.empty() ? "" : name.data();
}

const void *dh_shim_access_type(LLVMValueRef inst)
{
    auto *i = unwrap<Instruction>(inst);
    return isa<LoadInst>(i) || isa<StoreInst>(i) ? i->getMetadata(LLVMContext::MD_tbaa) : nullptr;
}

bool dh_shim_types_overlap(LLVMModuleRef m, const void *a, const void *b)
{
    if (!a || !b || a == b)
        return true;
    Module &module = *unwrap(m);
    /* LLVM's own reading of the types; it looks at nothing but the tags, but wants the rest to be there. */
    TargetLibraryInfoImpl known{Triple(module.getTargetTriple())};
    TargetLibraryInfo library(known);
    AAResults all(library);
    SimpleAAQueryInfo query(all);
    TypeBasedAAResult types;
    AAMDNodes x, y;
    x.TBAA = const_cast<MDNode *>(static_cast<const MDNode *>(a));
    y.TBAA = const_cast<MDNode *>(static_cast<const MDNode *>(b));
    Value *nowhere = ConstantPointerNull::get(PointerType::getUnqual(module.getContext()));
    return types.alias(MemoryLocation(nowhere, LocationSize::beforeOrAfterPointer(), x),
                       MemoryLocation(nowhere, LocationSize::beforeOrAfterPointer(), y), query,
                       nullptr) != AliasResult::NoAlias;
}
