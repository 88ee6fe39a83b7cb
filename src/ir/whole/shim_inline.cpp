/*
 * shim_inline.cpp - inlines functions that create or join threads into their callers.
 *
 *     static void start(pthread_t *t, void *(*f)(void *), void *arg)
 *     {
 *         if (create(t, NULL, f, arg))
 *             abort();
 *     }
 *     for (i = 0; i < n; i++) start(&t[i], worker, &work[i]);
 *
 * The proofs about loops that create and join (count.c, apart.c) are about one function that runs once. A
 * wrapper runs once for each thread, and a function that creates a team and joins it may run often: inlined,
 * both are part of the loops around their calls. So are the small functions that a creator calls in a loop
 * that creates, or in a short one, which fill in what a thread is given. Others stay what they are: what
 * parameters are declared to point to (typed.c) is lost when they become values of the caller.
 *
 * Inlining neither removes nor adds an access, and copies of one access are one in the result (emit.c). Only
 * unoptimised code is treated like this: the table of a binary is about the functions it has.
 */
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "ir/whole/shim_whole.h"

using namespace llvm;

namespace
{

constexpr unsigned max_size = 300;    /* instructions of a function that creates or joins */
constexpr unsigned max_helper = 60;   /* of one that such a function calls */
constexpr unsigned max_growth = 6000; /* of the module */
constexpr unsigned max_rounds = 8;    /* functions in functions */

bool handles_threads(const Function &fn)
{
    StringRef name = fn.getName();
    return name == "pthread_create" || name == "pthread_join" || name == "thrd_create" || name == "thrd_join";
}

struct contents {
    unsigned size = 0;
    bool threads = false;  /* it creates or joins */
    bool is_fixed = false; /* it calls itself, or what it calls may come back twice */
};

void add(contents &c, const Instruction &i)
{
    auto *call = dyn_cast<CallBase>(&i);
    const Function *callee = call != nullptr ? call->getCalledFunction() : nullptr;
    c.size += isa<DbgInfoIntrinsic>(&i) ? 0 : 1;
    c.is_fixed |= (callee != nullptr && callee == i.getFunction()) ||
                  (call != nullptr && call->hasFnAttr(Attribute::ReturnsTwice));
    c.threads |= callee != nullptr && handles_threads(*callee);
}

contents look(const Function &fn)
{
    contents c;
    for (const Instruction &i : instructions(fn))
        add(c, i);
    return c;
}

/* Whether the loop around a call creates or joins threads, or is short. */
bool is_in_team_loop(const LoopInfo &loops, const CallInst &call)
{
    const Loop *loop = loops.getLoopFor(call.getParent());
    contents c;
    for (unsigned b = 0; loop != nullptr && b < loop->getNumBlocks(); b++)
        for (const Instruction &i : *loop->getBlocks()[b])
            add(c, i);
    return loop != nullptr && (c.threads || c.size <= max_helper);
}

/* How much code a call is to be replaced by; 0: it stays. */
unsigned wanted(const CallInst &call, const LoopInfo *loops)
{
    const Function *callee = call.getCalledFunction();
    if (callee == nullptr || callee->isDeclaration() || callee->isVarArg() || callee->isInterposable() ||
        callee == call.getFunction() || callee->getFunctionType() != call.getFunctionType())
        return 0;
    contents c = look(*callee);
    unsigned limit = c.threads                                           ? max_size
                     : loops != nullptr && is_in_team_loop(*loops, call) ? max_helper
                                                                         : 0;
    return c.is_fixed || c.size > limit ? 0 : c.size;
}

} // namespace

bool dh_shim_inline_threads(LLVMModuleRef m)
{
    unsigned growth = 0;
    bool any = false, again = true;
    for (unsigned round = 0; round < max_rounds && again; round++) {
        SmallVector<CallInst *, 16> calls;
        for (Function &fn : *unwrap(m)) {
            if (fn.isDeclaration())
                continue;
            DominatorTree dominators;
            LoopInfo loops;
            bool creates = look(fn).threads;
            if (creates) {
                dominators.recalculate(fn);
                loops.analyze(dominators);
            }
            for (Instruction &i : instructions(fn)) {
                auto *call = dyn_cast<CallInst>(&i);
                unsigned size = call != nullptr ? wanted(*call, creates ? &loops : nullptr) : 0;
                if (size == 0 || growth + size > max_growth)
                    continue;
                growth += size;
                calls.push_back(call);
            }
        }
        again = false;
        for (CallInst *call : calls) {
            InlineFunctionInfo info;
            again |= InlineFunction(*call, info, false, nullptr, false).isSuccess();
        }
        any |= again;
    }
    return any;
}
