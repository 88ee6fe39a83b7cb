/*
 * shim_loops.cpp - loops and the addresses in them, as scalar evolution knows them, for loops.c.
 *
 * All queries are made before the function is changed; expanding a value into a preheader is the only change
 * that these analyses survive.
 */
#include "shim.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MustExecute.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

struct dh_shim_loops {
    Function &function;
    const bool assumed_to_end; /* its loops, as long as this exists */
    const DataLayout &layout;
    DominatorTree tree;
    LoopInfo info;
    AssumptionCache assumptions;
    TargetLibraryInfoImpl library_impl;
    TargetLibraryInfo library;
    BranchProbabilityInfo probability;
    BlockFrequencyInfo frequency;
    ScalarEvolution evolution;
    SCEVExpander expander;
    SmallVector<Instruction *, 8> divisions;      /* of unsigned integers, in the whole function */
    DenseMap<const BasicBlock *, uint64_t> calls; /* how often the most frequent one of those it dominates is
                                                   * made, and the block itself holds */
    uint64_t busiest = 0;                         /* how often the most frequent loop goes round */
    DenseSet<const Loop *> floating;              /* loops that compute with floating-point numbers */

    dh_shim_loops(Function &f, bool ends)
        : function(f), assumed_to_end(ends && !f.mustProgress()), layout(f.getParent()->getDataLayout()),
          tree(f), info(tree), assumptions(f), library_impl(Triple(f.getParent()->getTargetTriple())),
          library(library_impl), probability(f, info, &library, &tree), frequency(f, probability, info),
          evolution(f, library, assumptions, tree, info), expander(evolution, layout, "dh")
    {
        for (Instruction &inst : instructions(f)) {
            if (inst.getOpcode() == Instruction::UDiv)
                divisions.push_back(&inst);
            if (is_call(inst))
                note_call(inst.getParent());
            if (inst.getType()->isFPOrFPVectorTy())
                note_floating(info.getLoopFor(inst.getParent()));
        }
        for (const Loop *loop : info.getLoopsInPreorder())
            busiest = std::max(busiest, often(loop->getHeader()));
        if (assumed_to_end)
            f.addFnAttr(Attribute::MustProgress); /* scalar evolution, which asks later, looks for that */
    }

    ~dh_shim_loops()
    {
        if (assumed_to_end)
            function.removeFnAttr(Attribute::MustProgress);
    }

    dh_shim_loops(const dh_shim_loops &) = delete;
    dh_shim_loops &operator=(const dh_shim_loops &) = delete;

    uint64_t often(const BasicBlock *bb) const
    {
        return frequency.getBlockFreq(bb).getFrequency();
    }

    /* Whether it takes the time of a call. Atomic operations do, since the runtime is called for each; not so
     * what code generation knows as an instruction, such as a square root. Recursion takes the time of the
     * very checks that are to be weighed against it, and does not count. */
    bool is_call(const Instruction &inst)
    {
        auto *call = dyn_cast<CallBase>(&inst);
        LibFunc known;
        if (!call)
            return inst.isAtomic();
        if (auto *copy = dyn_cast<MemIntrinsic>(call))
            return !isa<ConstantInt>(copy->getLength());
        if (library.getLibFunc(*call, known) && library.hasOptimizedCodeGen(known))
            return false;
        return !call->isInlineAsm() && !isa<IntrinsicInst>(call) &&
               call->getCalledFunction() != call->getFunction();
    }

    void note_call(const BasicBlock *bb)
    {
        const uint64_t times = often(bb);
        for (const DomTreeNode *node = tree.getNode(bb); node; node = node->getIDom()) {
            uint64_t &most = calls[node->getBlock()];
            if (most >= times)
                break;
            most = times;
        }
    }

    /* Whether one of the calls that bb dominates takes more time than what happens so often. */
    bool is_beside_call(uint64_t times, const BasicBlock *bb) const
    {
        const uint64_t worth = 32; /* a call takes the time that inlining saves of so many checks */
        const uint64_t most = calls.lookup(bb);
        return most > 0 && times / worth <= most;
    }

    void note_floating(const Loop *loop)
    {
        while (loop && floating.insert(loop).second)
            loop = loop->getParentLoop();
    }
};

static const Loop *loop_of(const void *loop)
{
    return static_cast<const Loop *>(loop);
}

struct dh_shim_loops *dh_shim_loops_new(LLVMValueRef fn, bool ends)
{
    return new dh_shim_loops(*unwrap<Function>(fn), ends);
}

void dh_shim_loops_free(struct dh_shim_loops *loops)
{
    delete loops;
}

const void *dh_shim_loops_at(struct dh_shim_loops *loops, LLVMValueRef inst)
{
    const Loop *loop = loops->info.getLoopFor(unwrap<Instruction>(inst)->getParent());
    if (!loop || !loop->isInnermost() || !loop->getLoopPreheader() || !loop->getExitingBlock())
        return nullptr;
    return loop;
}

/* A block that control comes back to over and over on its way to bb: the head of the innermost loop around
 * it, or in that loop a case of a switch with more than a few, each of which is rare by the estimate and may
 * be hot in an interpreter; outside of loops, the function's entry. */
static const BasicBlock *hub_of(const struct dh_shim_loops *loops, const BasicBlock *bb)
{
    const unsigned few = 4;
    const Loop *loop = loops->info.getLoopFor(bb);
    const DomTreeNode *node = loops->tree.getNode(bb);
    for (; node && node->getIDom(); node = node->getIDom()) {
        const Instruction *end = node->getIDom()->getBlock()->getTerminator();
        bool dispatched = (isa<IndirectBrInst>(end) || isa<SwitchInst>(end)) && end->getNumSuccessors() > few;
        if (loop && (node->getBlock() == loop->getHeader() || dispatched))
            break;
    }
    return node ? node->getBlock() : bb;
}

/* Rare is what hardly matters, by LLVM's estimate of frequencies: what happens less often than its hub, what
 * stands beside a call that takes more time, what is in a loop while others of the function go round more
 * often. A check that is not inlined is a call that keeps all registers except those of vectors. Where these
 * are in use, in loops that compute with floating-point numbers, it costs more, so less counts as rare. */
bool dh_shim_loops_is_rare(struct dh_shim_loops *loops, LLVMValueRef inst)
{
    const BasicBlock *bb = unwrap<Instruction>(inst)->getParent(), *hub = hub_of(loops, bb);
    const uint64_t often = loops->often(bb), all = loops->often(hub);
    const Loop *loop = loops->info.getLoopFor(bb);
    if (loop && loops->floating.contains(loop))
        return often < all / 2 || loops->is_beside_call(often, hub);
    if (loop && hub == loop->getHeader())
        return often < all || all < loops->busiest / 2 ||
               loops->is_beside_call(often, &bb->getParent()->getEntryBlock());
    return often < all || loops->is_beside_call(often, hub);
}

bool dh_shim_loops_calls(struct dh_shim_loops *loops, LLVMValueRef fn)
{
    const BasicBlock *entry = &unwrap<Function>(fn)->getEntryBlock();
    return loops->is_beside_call(loops->often(entry), entry);
}

bool dh_shim_loops_stride(struct dh_shim_loops *loops, const void *loop, LLVMValueRef inst, LLVMValueRef ptr,
                          long long *ret_step)
{
    const Loop *l = loop_of(loop);
    /* Before the only way out: as often as the loop goes round, and at least once. */
    if (!loops->tree.dominates(unwrap<Instruction>(inst)->getParent(), l->getExitingBlock()))
        return false;
    const SCEV *address = loops->evolution.getSCEV(unwrap(ptr));
    if (loops->evolution.isLoopInvariant(address, l)) {
        *ret_step = 0;
        return true;
    }
    auto *moving = dyn_cast<SCEVAddRecExpr>(address);
    if (!moving || moving->getLoop() != l || !moving->isAffine())
        return false;
    auto *step = dyn_cast<SCEVConstant>(moving->getStepRecurrence(loops->evolution));
    if (!step || step->getAPInt().getSignificantBits() > 32)
        return false;
    *ret_step = step->getAPInt().getSExtValue();
    return true;
}

bool dh_shim_loops_distance(struct dh_shim_loops *loops, LLVMValueRef from, LLVMValueRef to,
                            long long *ret_distance)
{
    ScalarEvolution &evolution = loops->evolution;
    const SCEV *difference =
        evolution.getMinusSCEV(evolution.getSCEV(unwrap(to)), evolution.getSCEV(unwrap(from)));
    auto *constant = dyn_cast<SCEVConstant>(difference);
    if (!constant || constant->getAPInt().getSignificantBits() > 32)
        return false;
    *ret_distance = constant->getAPInt().getSExtValue();
    return true;
}

unsigned dh_shim_loops_max_count(struct dh_shim_loops *loops, const void *loop)
{
    return loops->evolution.getSmallConstantMaxTripCount(loop_of(loop));
}

namespace
{
/* Puts values the program has already computed in the place of divisions by what might be zero, which are not
 * safe to compute again: a thread's share of the work is as a rule made of such divisions. */
struct ReuseDivisions : SCEVRewriteVisitor<ReuseDivisions> {
    const DominatorTree &tree;
    const Instruction *at;
    ArrayRef<Instruction *> divisions;
    ReuseDivisions(struct dh_shim_loops *loops, const Instruction *at)
        : SCEVRewriteVisitor(loops->evolution), tree(loops->tree), at(at), divisions(loops->divisions)
    {
    }
    const SCEV *visitUDivExpr(const SCEVUDivExpr *division)
    {
        if (!isa<SCEVConstant>(division->getRHS()))
            for (Instruction *known : divisions)
                if (SE.getSCEV(known) == division && tree.dominates(known, at))
                    return SE.getUnknown(known);
        return SCEVRewriteVisitor::visitUDivExpr(division);
    }
};
} // namespace

static LLVMValueRef expand(struct dh_shim_loops *loops, const Loop *loop, const SCEV *value, Type *type)
{
    Instruction *at = loop->getLoopPreheader()->getTerminator();
    value = ReuseDivisions(loops, at).visit(value);
    /* Whatever it costs (the count of a vectorised loop takes a division or two): a range check saves more.
     */
    if (!loops->expander.isSafeToExpandAt(value, at))
        return nullptr;
    return wrap(loops->expander.expandCodeFor(value, type, at->getIterator()));
}

LLVMValueRef dh_shim_loops_count(struct dh_shim_loops *loops, const void *loop)
{
    const Loop *l = loop_of(loop);
    ScalarEvolution &evolution = loops->evolution;
    const SCEV *back = evolution.getBackedgeTakenCount(l);
    if (isa<SCEVCouldNotCompute>(back) || evolution.getTypeSizeInBits(back->getType()) > 64)
        return nullptr;
    Type *u64 = Type::getInt64Ty(back->getType()->getContext());
    const SCEV *count = evolution.getAddExpr(evolution.getNoopOrZeroExtend(back, u64), evolution.getOne(u64));
    return expand(loops, l, count, u64);
}

LLVMValueRef dh_shim_loops_start(struct dh_shim_loops *loops, const void *loop, LLVMValueRef ptr)
{
    const SCEV *address = loops->evolution.getSCEV(unwrap(ptr));
    if (auto *moving = dyn_cast<SCEVAddRecExpr>(address))
        if (moving->getLoop() == loop_of(loop))
            address = moving->getStart();
    return expand(loops, loop_of(loop), address, unwrap(ptr)->getType());
}

LLVMValueRef dh_shim_loops_preheader_end(const void *loop)
{
    return wrap(loop_of(loop)->getLoopPreheader()->getTerminator());
}

bool dh_shim_loops_end(LLVMValueRef fn)
{
    Function &f = *unwrap<Function>(fn);
    SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 8> back;
    FindFunctionBackedges(f, back);
    if (back.empty())
        return true;
    DominatorTree tree(f);
    LoopInfo info(tree);
    return !mayContainIrreducibleControl(f, &info) &&
           all_of(info.getLoopsInPreorder(), [](const Loop *loop) { return isMustProgress(loop); });
}

bool dh_shim_same_line(LLVMValueRef a, LLVMValueRef b)
{
    const DebugLoc &x = unwrap<Instruction>(a)->getDebugLoc(), &y = unwrap<Instruction>(b)->getDebugLoc();
    if (!x || !y)
        return !x && !y;
    return x.getLine() == y.getLine() && x.getInlinedAt() == y.getInlinedAt() &&
           cast<DIScope>(x.getScope())->getFile() == cast<DIScope>(y.getScope())->getFile();
}

/* What clang records of a loop on the branch that repeats it: where it begins, and then where it ends. */
static DILocation *loop_repeated_by(const Instruction *end)
{
    const MDNode *loop = end->getMetadata(LLVMContext::MD_loop);
    for (unsigned i = 1; loop && i < loop->getNumOperands(); i++)
        if (auto *begin = dyn_cast<DILocation>(loop->getOperand(i)))
            return begin->getInlinedAtScope()->getSubprogram() == end->getFunction()->getSubprogram()
                       ? begin
                       : nullptr;
    return nullptr;
}

static DILocation *loop_begun_by(const BasicBlock *head)
{
    for (const BasicBlock *from : predecessors(head))
        if (DILocation *loop = loop_repeated_by(from->getTerminator()))
            if (DominatorTree(*const_cast<Function *>(head->getParent())).dominates(head, from))
                return loop;
    return nullptr;
}

/* Whether all of a block has come from elsewhere: then so has the condition at its end, if there is one. */
static bool is_moved(const BasicBlock *block)
{
    const Instruction *end = block->getTerminator();
    return end->getNumSuccessors() <= 2 && all_of(*block, [end](const Instruction &inst) {
               return isa<PHINode>(inst) || inst.isDebugOrPseudoInst() || !inst.getDebugLoc() ||
                      (&inst == end && end->getNumSuccessors() == 1);
           });
}

static DILocation *loop_of_end(const Instruction *end, unsigned deep)
{
    if (DILocation *loop = loop_repeated_by(end))
        return loop;
    for (const BasicBlock *next : successors(end))
        if (DILocation *loop = loop_begun_by(next))
            return loop;
    /* There may be several conditions in front of a loop. */
    for (const BasicBlock *next : successors(end))
        if (deep > 0 && is_moved(next))
            if (DILocation *loop = loop_of_end(next->getTerminator(), deep - 1))
                return loop;
    return nullptr;
}

LLVMMetadataRef dh_shim_loop_of_end(LLVMValueRef end)
{
    const unsigned deep_enough = 4;
    return wrap(loop_of_end(unwrap<Instruction>(end), deep_enough));
}

LLVMMetadataRef dh_shim_scope_of(LLVMValueRef value)
{
    auto *inst = unwrap<Instruction>(value);
    const DebugLoc &at = inst->getDebugLoc();
    DILocalScope *scope = at ? cast<DILocalScope>(at.getScope()) : inst->getFunction()->getSubprogram();
    if (!scope)
        return nullptr;
    /* Files that are included in the middle of a function are scopes of their own, without a line. */
    scope = scope->getNonLexicalBlockFileScope();
    auto *block = dyn_cast<DILexicalBlock>(scope);
    const unsigned line = block ? block->getLine() : scope->getSubprogram()->getLine();
    return wrap(DILocation::get(inst->getContext(), line, 0, scope, at ? at.getInlinedAt() : nullptr));
}

LLVMValueRef dh_shim_split_if(LLVMValueRef condition, LLVMValueRef inst, bool unlikely)
{
    auto *at = unwrap<Instruction>(inst);
    MDNode *weights = unlikely ? MDBuilder(at->getContext()).createUnlikelyBranchWeights() : nullptr;
    return wrap(
        SplitBlockAndInsertIfThen(unwrap(condition), at->getIterator(), /*Unreachable=*/false, weights));
}

bool dh_shim_is_known_at(LLVMValueRef value, LLVMValueRef inst)
{
    auto *made = dyn_cast<Instruction>(unwrap(value));
    auto *at = unwrap<Instruction>(inst);
    return !made || made->getParent() != at->getParent() || made->comesBefore(at);
}
