/*
 * shim_whole.cpp - gives the whole-program analysis what LLVM-C lacks: loops, and names in debug information.
 */
#include "shim_whole.h"

#include <climits>

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TypeBasedAliasAnalysis.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
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

/* "LLVM21.1.0"; other producers have numbers of their own. */
bool dh_shim_is_newer(LLVMMemoryBufferRef bitcode, char *ret_producer, size_t size)
{
    Expected<std::string> producer = getBitcodeProducerString(unwrap(bitcode)->getMemBufferRef());
    if (!producer) {
        consumeError(producer.takeError());
        return false;
    }
    StringRef version(*producer);
    unsigned major;
    if (!version.consume_front("LLVM") || version.consumeInteger(10, major) || major <= LLVM_VERSION_MAJOR)
        return false;
    snprintf(ret_producer, size, "%s", producer->c_str());
    return true;
}

int dh_shim_frame(LLVMValueRef inst, unsigned depth, struct dh_shim_frame *ret)
{
    const DILocation *at = unwrap<Instruction>(inst)->getDebugLoc().get();
    for (; at && depth > 0; depth--)
        at = at->getInlinedAt();
    if (!at)
        return 0;
    StringRef function, file = at->getFilename(), dir = at->getDirectory();
    unsigned declared = 0;
    bool internal = false;
    if (const DISubprogram *sub = at->getScope()->getSubprogram()) {
        function = sub->getLinkageName().empty() ? sub->getName() : sub->getLinkageName();
        internal = sub->isLocalToUnit();
        if (sub->getFilename() == file && sub->getDirectory() == dir)
            declared = sub->getLine();
    }
    *ret = {function.data(), file.data(),   dir.data(),      function.size(), file.size(),
            dir.size(),      at->getLine(), at->getColumn(), declared,        internal};
    return 1;
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

/* LLVM's own reading of the types; it looks at nothing but the tags, but wants the rest to be there. */
void dh_shim_types_compare(LLVMModuleRef m, const void *const *types, size_t n, unsigned char *ret)
{
    Module &module = *unwrap(m);
    TargetLibraryInfoImpl known{Triple(module.getTargetTriple())};
    TargetLibraryInfo library(known);
    AAResults all(library);
    SimpleAAQueryInfo query(all);
    TypeBasedAAResult reading;
    Value *nowhere = ConstantPointerNull::get(PointerType::getUnqual(module.getContext()));
    auto place = [&](const void *type) {
        AAMDNodes tags;
        tags.TBAA = const_cast<MDNode *>(static_cast<const MDNode *>(type));
        return MemoryLocation(nowhere, LocationSize::beforeOrAfterPointer(), tags);
    };
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            if (types[i] && types[j] && i != j &&
                reading.alias(place(types[i]), place(types[j]), query, nullptr) == AliasResult::NoAlias)
                continue;
            for (size_t bit : {i * n + j, j * n + i})
                ret[bit / 8] |= static_cast<unsigned char>(1 << bit % 8);
        }
}
