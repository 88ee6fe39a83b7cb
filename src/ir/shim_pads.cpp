/*
 * shim_pads.cpp - gives throwing.c what LLVM-C lacks: where an exception would land, and calls that may
 * unwind.
 */
#include "shim.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

struct dh_shim_pads {
    DenseMap<const BasicBlock *, BasicBlock *> at_start;
};

static bool is_mark(const Instruction &inst)
{
    auto *call = dyn_cast<CallBase>(&inst);
    return call && call->getCalledFunction() && call->getCalledFunction()->getName() == DH_STATEMENT_MARK;
}

static BasicBlock *pad_of(const Instruction &mark)
{
    auto *invoke = dyn_cast<InvokeInst>(&mark);
    return invoke ? invoke->getUnwindDest() : nullptr;
}

struct dh_shim_pads *dh_shim_pads_new(LLVMValueRef fn)
{
    auto *pads = new dh_shim_pads;
    DominatorTree tree(*unwrap<Function>(fn));
    DenseMap<const BasicBlock *, BasicBlock *> at_end;
    for (DomTreeNode *node : depth_first(tree.getRootNode())) {
        BasicBlock *block = node->getBlock(), *pad = nullptr;
        if (node->getIDom() && !block->isLandingPad())
            pad = at_end.lookup(node->getIDom()->getBlock());
        pads->at_start[block] = pad;
        for (Instruction &inst : *block)
            if (is_mark(inst))
                pad = pad_of(inst);
        at_end[block] = pad;
    }
    return pads;
}

void dh_shim_pads_free(struct dh_shim_pads *pads)
{
    delete pads;
}

LLVMBasicBlockRef dh_shim_pads_at(struct dh_shim_pads *pads, LLVMValueRef inst)
{
    auto *at = unwrap<Instruction>(inst);
    BasicBlock *pad = pads->at_start.lookup(at->getParent());
    for (Instruction &before : *at->getParent()) {
        if (&before == at)
            break;
        if (is_mark(before))
            pad = pad_of(before);
    }
    /* clang makes no phi there before its code is optimised; if there were one, it would need a value. */
    return pad && !isa<PHINode>(pad->front()) ? wrap(pad) : nullptr;
}

void dh_shim_make_invoke(LLVMValueRef call, LLVMBasicBlockRef pad)
{
    changeToInvokeAndSplitBasicBlock(unwrap<CallInst>(call), unwrap(pad));
}

void dh_shim_set_inaccessible(LLVMValueRef fn)
{
    unwrap<Function>(fn)->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
}

void dh_shim_drop_marks(LLVMModuleRef m)
{
    Function *mark = unwrap(m)->getFunction(DH_STATEMENT_MARK);
    while (mark && !mark->use_empty()) {
        auto *call = cast<CallBase>(mark->user_back());
        if (auto *invoke = dyn_cast<InvokeInst>(call))
            call = changeToCall(invoke);
        call->eraseFromParent();
    }
    if (mark)
        mark->eraseFromParent();
}
