/*
 * shim_code.cpp - see shim_code.h.
 */
#include "shim_code.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"

using namespace llvm;

bool dh_shim_subprogram(LLVMValueRef function, struct dh_shim_subprogram *ret)
{
    const DISubprogram *sub = unwrap<Function>(function)->getSubprogram();
    if (!sub || !sub->getUnit())
        return false;
    StringRef unit = sub->getUnit()->getFilename();
    StringRef name = sub->getLinkageName().empty() ? sub->getName() : sub->getLinkageName();
    *ret = {unit.data(), name.data(), unit.size(), name.size()};
    return true;
}

namespace
{
struct CodePass : PassInfoMixin<CodePass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        dh_ir_code_note(wrap(&module));
        return PreservedAnalyses::all();
    }
    /* Also at -O0. */
    static bool isRequired()
    {
        return true;
    }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "deadheat-code", "1", [](PassBuilder &builder) {
                builder.registerPipelineStartEPCallback(
                    [](ModulePassManager &passes, OptimizationLevel) { passes.addPass(CodePass()); });
            }};
}
