/*
 * shim_exits.cpp - where a loop ends, for questions that are asked once after it (caper/question.c).
 *
 * A question about an access in a loop may be moved to the loop's exits only if the access has certainly
 * happened when an exit is reached, and an exit is certainly reached: a loop that runs forever, or until
 * another thread does something, would never ask. A loop terminates if its iterations can be counted, or if
 * each of them accesses a different place of one object.
 */
#include "shim.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

struct dh_shim_exits {
    DominatorTree tree;
    LoopInfo info;
    AssumptionCache assumptions;
    TargetLibraryInfoImpl library_impl;
    TargetLibraryInfo library;
    ScalarEvolution evolution;
    bool (*is_quiet)(void *arg, LLVMValueRef inst);
    void *arg;
    DenseMap<const Loop *, bool> fine; /* may questions wait until it ends? */

    dh_shim_exits(Function &f, bool (*quiet)(void *, LLVMValueRef), void *to)
        : tree(f), info(tree), assumptions(f), library_impl(Triple(f.getParent()->getTargetTriple())),
          library(library_impl), evolution(f, library, assumptions, tree, info), is_quiet(quiet), arg(to)
    {
    }

    bool moves(const Loop *loop, const Instruction &inst)
    {
        const Value *ptr = getLoadStorePointerOperand(&inst);
        const BasicBlock *latch = loop->getLoopLatch();
        if (!ptr || !latch || !tree.dominates(inst.getParent(), latch) ||
            !evolution.isSCEVable(ptr->getType()))
            return false;
        auto *address = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(const_cast<Value *>(ptr)));
        return address && address->getLoop() == loop && address->isAffine() &&
               evolution.isKnownNonZero(address->getStepRecurrence(evolution));
    }

    bool ends(const Loop *loop)
    {
        if (!isa<SCEVCouldNotCompute>(evolution.getSymbolicMaxBackedgeTakenCount(loop)))
            return true;
        for (const BasicBlock *bb : loop->blocks())
            for (const Instruction &inst : *bb)
                if (moves(loop, inst))
                    return true;
        return false;
    }

    bool leaves_by_branches(const Loop *loop) const
    {
        const unsigned many = 8;
        SmallVector<BasicBlock *, 8> exiting;
        loop->getExitingBlocks(exiting);
        for (const BasicBlock *bb : exiting)
            if (!isa<BranchInst>(bb->getTerminator()) && !isa<SwitchInst>(bb->getTerminator()))
                return false;
        return !exiting.empty() && exiting.size() <= many;
    }

    bool is_fine(const Loop *loop)
    {
        auto known = fine.find(loop);
        if (known != fine.end())
            return known->second;
        bool yes = leaves_by_branches(loop);
        for (const Loop *inner : loop->getSubLoops())
            yes = yes && is_fine(inner);
        for (BasicBlock *bb : loop->blocks())
            for (Instruction &inst : *bb)
                yes = yes && is_quiet(arg, wrap(&inst));
        yes = yes && ends(loop);
        fine[loop] = yes;
        return yes;
    }

    /* Whether bb has been passed whenever the loop is left. */
    bool is_passed(const Loop *loop, const BasicBlock *bb) const
    {
        SmallVector<BasicBlock *, 8> exiting;
        loop->getExitingBlocks(exiting);
        return all_of(exiting, [&](const BasicBlock *from) { return tree.dominates(bb, from); });
    }
};

struct dh_shim_exits *dh_shim_exits_new(LLVMValueRef fn, bool (*is_quiet)(void *arg, LLVMValueRef inst),
                                        void *arg)
{
    return new dh_shim_exits(*unwrap<Function>(fn), is_quiet, arg);
}

void dh_shim_exits_free(struct dh_shim_exits *exits)
{
    delete exits;
}

/* A pointer that goes through an object is made, round by round, from the one that it began with. */
static const Value *origin_of(const Value *ptr)
{
    const unsigned no_limit = 0;
    SmallVector<const Value *, 4> objects;
    getUnderlyingObjects(ptr, objects, nullptr, no_limit);
    return objects.size() == 1 ? objects[0] : nullptr;
}

const void *dh_shim_exits_loop(struct dh_shim_exits *exits, LLVMValueRef inst, LLVMValueRef ptr,
                               LLVMValueRef *ret_origin)
{
    const BasicBlock *bb = unwrap<Instruction>(inst)->getParent();
    const Value *origin = exits->info.getLoopFor(bb) ? origin_of(unwrap(ptr)) : nullptr;
    const Loop *found = nullptr;
    for (const Loop *loop = exits->info.getLoopFor(bb); origin && loop && loop->isLoopInvariant(origin) &&
                                                        exits->is_passed(loop, bb) && exits->is_fine(loop);
         loop = loop->getParentLoop())
        found = loop;
    *ret_origin = wrap(const_cast<Value *>(origin));
    return found;
}

unsigned dh_shim_exits_places(struct dh_shim_exits *exits, const void *loop, LLVMValueRef *ret, unsigned room)
{
    auto *l = static_cast<const Loop *>(loop);
    SmallVector<BasicBlock *, 8> ends;
    unsigned n = 0;
    l->getUniqueExitBlocks(ends);
    for (BasicBlock *end : ends) {
        SmallVector<BasicBlock *, 8> from;
        bool own = true;
        for (BasicBlock *before : predecessors(end))
            if (!l->contains(before))
                own = false;
            else if (!is_contained(from, before))
                from.push_back(before);
        if (!own)
            end = SplitBlockPredecessors(end, from, ".dh", &exits->tree, &exits->info);
        if (n < room)
            ret[n] = wrap(&*end->getFirstInsertionPt());
        n++;
    }
    return n;
}
