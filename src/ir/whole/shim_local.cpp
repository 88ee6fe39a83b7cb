/*
 * shim_local.cpp - names each use of a thread-local variable.
 *
 * In most code an instruction takes the address from llvm.threadlocal.address, which says whose copy it is:
 * that of the thread that executes it. But clang itself refers to the variable directly where it generates
 * constructors, and registers destructors, of thread-local objects; and so does bitcode of older compilers.
 * The analysis has a copy of the variable for each thread, and only the intrinsic leads there.
 */
#include "shim_whole.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"

using namespace llvm;

static bool is_named(const User *user)
{
    const auto *call = dyn_cast<IntrinsicInst>(user);
    return call && call->getIntrinsicID() == Intrinsic::threadlocal_address;
}

/* A value that a phi has for a predecessor is computed at its end; for one that comes twice, once. */
static Instruction *place_of(Instruction *user, const Use &use)
{
    auto *phi = dyn_cast<PHINode>(user);
    return phi ? phi->getIncomingBlock(use)->getTerminator() : user;
}

static void name_use(GlobalVariable &variable, Use &use)
{
    auto *user = dyn_cast<Instruction>(use.getUser());
    if (!user || is_named(user) || isa<LandingPadInst>(user) || use.get() != &variable)
        return;
    IRBuilder<> at(place_of(user, use));
    Value *address = at.CreateThreadLocalAddress(&variable);
    auto *phi = dyn_cast<PHINode>(user);
    if (!phi) {
        use.set(address);
        return;
    }
    BasicBlock *from = phi->getIncomingBlock(use);
    for (unsigned i = 0; i < phi->getNumIncomingValues(); i++)
        if (phi->getIncomingBlock(i) == from)
            phi->setIncomingValue(i, address);
}

void dh_shim_name_thread_locals(LLVMModuleRef m)
{
    for (GlobalVariable &variable : unwrap(m)->globals()) {
        if (!variable.isThreadLocal())
            continue;
        convertUsersOfConstantsToInstructions({&variable});
        SmallVector<Use *, 16> uses;
        for (Use &use : variable.uses())
            uses.push_back(&use);
        for (Use *use : uses)
            name_use(variable, *use);
    }
}
