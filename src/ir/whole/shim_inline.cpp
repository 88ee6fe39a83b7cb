/*
 * shim_inline.cpp - functions that create or join threads become part of their callers.
 *
 *     static void start(pthread_t *t, void *(*f)(void *), void *arg) { if (create(t, NULL, f, arg)) abort();
 * } for (i = 0; i < n; i++) start(&t[i], worker, &work[i]);
 *
 * What is proved of loops that create and join (count.c, team.c) is proved of one function that runs once. A
 * wrapper runs once for each thread, and a function that creates a team and joins it may run often: inlined,
 * both are part of the loops around their calls. So are the small functions that a creator calls, which fill
 * in what a thread is given.
 *
 * Inlining neither removes nor adds an access, and copies of one access are one in the result (emit.c). Only
 * code that was not optimised is treated like this: the table of a binary is about the functions it has.
 */
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "ir/whole/shim_whole.h"

using namespace llvm;

namespace
{

enum {
    max_size = 300,    /* instructions of a function that creates or joins */
    max_helper = 60,   /* of one that such a function calls */
    max_growth = 6000, /* of the module */
    max_rounds = 8,    /* functions in functions */
};

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

contents look(const Function &fn)
{
    contents c;
    for (const Instruction &i : instructions(fn)) {
        auto *call = dyn_cast<CallBase>(&i);
        const Function *callee = call != nullptr ? call->getCalledFunction() : nullptr;
        c.size += isa<DbgInfoIntrinsic>(&i) ? 0 : 1;
        c.is_fixed |= callee == &fn || (call != nullptr && call->hasFnAttr(Attribute::ReturnsTwice));
        c.threads |= callee != nullptr && handles_threads(*callee);
    }
    return c;
}

/* Which function a call is to be replaced by, and how much code that is; 0: it stays. */
unsigned wanted(const CallInst &call, const contents &caller)
{
    const Function *callee = call.getCalledFunction();
    if (callee == nullptr || callee->isDeclaration() || callee->isVarArg() || callee->isInterposable() ||
        callee == call.getFunction() || callee->getFunctionType() != call.getFunctionType())
        return 0;
    contents c = look(*callee);
    unsigned limit = c.threads ? max_size : caller.threads ? max_helper : 0;
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
            contents caller = look(fn);
            for (Instruction &i : instructions(fn)) {
                auto *call = dyn_cast<CallInst>(&i);
                unsigned size = call != nullptr ? wanted(*call, caller) : 0;
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
