/*
 * shim_promote.cpp - variables in memory that a loop keeps in a register, only where that makes no access of
 * its own.
 *
 * LICM reads such a variable before the loop and writes it behind it. It asks whether the read is harmless,
 * not whether the program makes it: a counter that the loop increments on a condition is read in any case, if
 * it is a global or another object that is known to exist, and so is one in a loop that is not entered. The
 * attribute sanitize_thread forbids speculated loads, but not these. So LICM promotes nothing, but once: in
 * front of the vectoriser, when loops have been rotated, and in the loops in which every store to a fixed
 * address is executed whenever the loop is entered.
 */
#include "shim_promote.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MustExecute.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

using namespace llvm;

static void set_promotion(bool on)
{
    auto &options = cl::getRegisteredOptions();
    auto found = options.find("disable-licm-promotion");
    if (found != options.end() && found->second->getNumOccurrences() == 0)
        *static_cast<cl::opt<bool> *>(found->second) = !on;
}

/* Reading and writing each variable once is what the loop does anyway. */
static bool is_promotable(const Loop &loop, const DominatorTree &tree)
{
    ICFLoopSafetyInfo safety;
    safety.computeLoopSafetyInfo(&loop);
    for (const BasicBlock *block : loop.blocks())
        for (const Instruction &inst : *block)
            if (auto *store = dyn_cast<StoreInst>(&inst))
                if (loop.isLoopInvariant(store->getPointerOperand()) &&
                    !safety.isGuaranteedToExecute(inst, &tree, &loop))
                    return false;
    return true;
}

namespace
{
struct AllowPass : PassInfoMixin<AllowPass> {
    PreservedAnalyses run(Loop &loop, LoopAnalysisManager &, LoopStandardAnalysisResults &known, LPMUpdater &)
    {
        set_promotion(is_promotable(loop, known.DT));
        return PreservedAnalyses::all();
    }
};

struct ForbidPass : PassInfoMixin<ForbidPass> {
    PreservedAnalyses run(Loop &, LoopAnalysisManager &, LoopStandardAnalysisResults &, LPMUpdater &)
    {
        set_promotion(false);
        return PreservedAnalyses::all();
    }
};
} // namespace

void dh_shim_forbid_promotion()
{
    set_promotion(false);
}

void dh_shim_promote(FunctionPassManager &passes)
{
    LoopPassManager loops;
    loops.addPass(LICMPass(LICMOptions())); /* so that addresses are outside that can be */
    loops.addPass(AllowPass());
    loops.addPass(LICMPass(LICMOptions()));
    loops.addPass(ForbidPass());
    passes.addPass(createFunctionToLoopPassAdaptor(std::move(loops), true));
}
