/*
 * shim_walk.cpp - rewrites loops in which a pointer walks over an array to use an index.
 *
 *     for (p = t; p < t + n; p++) create(p, ...);      for (i = 0; i < n; i++) create(&t[i], ...);
 *
 * The left form becomes the right one, so that the analysis has to handle only one form of counting loop.
 * Nothing is assumed: the pointer begins at a place that is known before the loop, each iteration adds a
 * constant number of elements to it, and it is compared with a place at a known number of elements from the
 * same base. Pointers that are compared with `<` are in one array, or the program is wrong: the comparison is
 * that of the numbers.
 */
#include "shim_whole.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace
{

struct Place {
    Value *base;
    int64_t offset;
};

struct Walk {
    PHINode *pointer;
    GetElementPtrInst *next; /* what the pointer is in the next round */
    Value *start;
    int64_t size, step; /* of an element; elements a round */
};

Place place(const DataLayout &layout, Value *v)
{
    APInt offset(64, 0);
    Value *base = v->stripAndAccumulateConstantOffsets(layout, offset, false);
    return {base, offset.getSExtValue()};
}

bool find_walk(const DataLayout &layout, const Loop &loop, PHINode &phi, Walk *ret)
{
    BasicBlock *before = loop.getLoopPreheader(), *latch = loop.getLoopLatch();
    if (!phi.getType()->isPointerTy() || !before || !latch)
        return false;
    auto *next = dyn_cast<GetElementPtrInst>(phi.getIncomingValueForBlock(latch));
    if (!next || next->getPointerOperand() != &phi || next->getNumIndices() != 1 || !next->isInBounds() ||
        !isa<ConstantInt>(next->getOperand(1)) || !next->getSourceElementType()->isSized())
        return false;
    int64_t size = layout.getTypeAllocSize(next->getSourceElementType()).getFixedValue();
    int64_t step = cast<ConstantInt>(next->getOperand(1))->getSExtValue();
    *ret = {&phi, next, phi.getIncomingValueForBlock(before), size, step};
    return size > 0 && step > 0;
}

/* The number of elements from the start to the end of the walk, as a value that is known before the loop; or
 * NULL. */
Value *distance(const DataLayout &layout, const Loop &loop, const Walk &walk, Value *end)
{
    Type *number = Type::getInt64Ty(end->getContext());
    Place from = place(layout, walk.start), to = place(layout, end);
    int64_t bytes = to.offset - from.offset;
    if (to.base == from.base)
        return bytes % walk.size == 0 ? ConstantInt::getSigned(number, bytes / walk.size) : nullptr;
    auto *element = dyn_cast<GetElementPtrInst>(end);
    if (!element || element->getNumIndices() != 1 || !element->getSourceElementType()->isSized() ||
        (int64_t)layout.getTypeAllocSize(element->getSourceElementType()).getFixedValue() != walk.size)
        return nullptr;
    to = place(layout, element->getPointerOperand());
    if (to.base != from.base || to.offset != from.offset)
        return nullptr;
    Value *index = element->getOperand(1);
    if (index->getType() == number && loop.isLoopInvariant(index))
        return index;
    auto *wide = dyn_cast<CastInst>(index);
    if (!wide || !(isa<SExtInst>(wide) || isa<ZExtInst>(wide)) || wide->getType() != number ||
        !loop.isLoopInvariant(wide->getOperand(0)))
        return nullptr;
    return IRBuilder<>(loop.getLoopPreheader()->getTerminator())
        .CreateCast(wide->getOpcode(), wide->getOperand(0), number);
}

/* A comparison that the loop may be left by, with the bound of the index in the place of the end. */
struct Test {
    ICmpInst *compare;
    bool swapped, of_next;
    Value *bound;
};

bool find_test(const DataLayout &layout, const Loop &loop, const Walk &walk, Test *ret)
{
    for (BasicBlock *block : loop.blocks()) {
        auto *branch = dyn_cast<BranchInst>(block->getTerminator());
        auto *compare = branch && branch->isConditional() && loop.isLoopExiting(block)
                            ? dyn_cast<ICmpInst>(branch->getCondition())
                            : nullptr;
        for (unsigned i = 0; compare && !compare->isSigned() && i < 2; i++) {
            Value *side = compare->getOperand(i);
            if (side != walk.pointer && side != walk.next)
                continue;
            *ret = {compare, i == 1, side == walk.next,
                    distance(layout, loop, walk, compare->getOperand(1 - i))};
            if (ret->bound)
                return true;
        }
    }
    return false;
}

/* How many elements the pointer is from the begin, `p - t`: that is the index. */
void replace_differences(const DataLayout &layout, const Walk &walk, PHINode *index)
{
    Place from = place(layout, walk.start);
    for (Instruction &i : instructions(walk.pointer->getFunction())) {
        Value *begin;
        uint64_t size;
        if (!match(&i, m_SDiv(m_Sub(m_PtrToInt(m_Specific(walk.pointer)), m_PtrToInt(m_Value(begin))),
                              m_ConstantInt(size))) ||
            (int64_t)size != walk.size || i.getType() != index->getType())
            continue;
        Place to = place(layout, begin);
        if (to.base == from.base && to.offset == from.offset)
            i.replaceAllUsesWith(index);
    }
}

void rewrite(const DataLayout &layout, const Loop &loop, const Walk &walk, const Test &test)
{
    Type *number = Type::getInt64Ty(walk.pointer->getContext());
    IRBuilder<> b(walk.pointer);
    PHINode *index = b.CreatePHI(number, 2);
    b.SetInsertPoint(walk.next);
    Value *next = b.CreateNSWAdd(index, ConstantInt::get(number, walk.step));
    index->addIncoming(ConstantInt::get(number, 0), loop.getLoopPreheader());
    index->addIncoming(next, loop.getLoopLatch());
    b.SetInsertPoint(test.compare);
    ICmpInst::Predicate by = test.compare->getPredicate();
    by = ICmpInst::isEquality(by) ? by : ICmpInst::getSignedPredicate(by);
    Value *side = test.of_next ? next : index;
    Value *compare = b.CreateICmp(by, test.swapped ? test.bound : side, test.swapped ? side : test.bound);
    test.compare->replaceAllUsesWith(compare);
    test.compare->eraseFromParent();
    replace_differences(layout, walk, index);
    b.SetInsertPoint(&*loop.getHeader()->getFirstInsertionPt());
    b.SetCurrentDebugLocation(DebugLoc());
    Value *element = b.CreateInBoundsGEP(walk.next->getSourceElementType(), walk.start, index);
    walk.pointer->replaceAllUsesWith(element);
    walk.pointer->eraseFromParent();
    if (walk.next->use_empty())
        walk.next->eraseFromParent();
}

} // namespace

void dh_shim_index_walks(LLVMModuleRef m)
{
    Module &module = *unwrap(m);
    const DataLayout &layout = module.getDataLayout();
    for (Function &f : module) {
        if (f.isDeclaration())
            continue;
        DominatorTree tree(f);
        LoopInfo loops(tree);
        for (const Loop *loop : loops.getLoopsInPreorder())
            for (PHINode &phi : make_early_inc_range(loop->getHeader()->phis())) {
                Walk walk;
                Test test;
                if (find_walk(layout, *loop, phi, &walk) && find_test(layout, *loop, walk, &test))
                    rewrite(layout, *loop, walk, test);
            }
    }
}
