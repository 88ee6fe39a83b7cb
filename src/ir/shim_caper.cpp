/*
 * shim_caper.cpp - what LLVM-C lacks and Caper builds need: `asm goto`, edges, types of accesses.
 */
#include "shim.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

LLVMValueRef dh_shim_object(LLVMValueRef ptr)
{
    const unsigned no_limit = 0;
    return wrap(const_cast<Value *>(getUnderlyingObject(unwrap(ptr), no_limit)));
}

bool dh_shim_may_hold_pointer(LLVMValueRef load)
{
    MDNode *tag = unwrap<Instruction>(load)->getMetadata(LLVMContext::MD_tbaa);
    auto *type = tag && tag->getNumOperands() > 1 ? dyn_cast<MDNode>(tag->getOperand(1)) : nullptr;
    auto *name = type && type->getNumOperands() > 0 ? dyn_cast<MDString>(type->getOperand(0)) : nullptr;
    static const char *const numbers[] = {"long", "long long", "int", "short", "double", "float", "bool"};
    for (const char *number : numbers)
        if (name && name->getString() == number)
            return false;
    return true;
}

/* Assembly before inst, with a block beside the way: where it may jump to, or what it may jump over. */
static LLVMValueRef insert_goto(LLVMValueRef inst, const char *text, bool bypass)
{
    Instruction *at = unwrap<Instruction>(inst);
    BasicBlock *head = at->getParent(), *tail = head->splitBasicBlock(at->getIterator());
    Function *f = head->getParent();
    BasicBlock *extra = BasicBlock::Create(f->getContext(), "", f, bypass ? tail : nullptr);
    FunctionType *type = FunctionType::get(Type::getVoidTy(f->getContext()), false);
    InlineAsm *code = InlineAsm::get(type, text, "!i", /*hasSideEffects=*/true);
    head->getTerminator()->eraseFromParent();
    IRBuilder<> builder(head);
    builder.SetCurrentDebugLocation(at->getDebugLoc());
    builder.CreateCallBr(type, code, bypass ? extra : tail, {bypass ? tail : extra}, {})->setDoesNotThrow();
    builder.SetInsertPoint(extra);
    return wrap(builder.CreateBr(tail));
}

LLVMValueRef dh_shim_insert_branch(LLVMValueRef inst, const char *text)
{
    return insert_goto(inst, text, false);
}

LLVMValueRef dh_shim_insert_bypass(LLVMValueRef inst, const char *text)
{
    return insert_goto(inst, text, true);
}

static void visit_source(const DIFile *file, void (*visit)(void *, const char *, const char *), void *arg)
{
    const auto sum = file ? file->getChecksum() : std::nullopt;
    if (sum && sum->Kind == DIFile::CSK_MD5)
        visit(arg, sum->Value.str().c_str(), file->getFilename().str().c_str());
}

void dh_shim_each_source(LLVMModuleRef m, void (*visit)(void *arg, const char *checksum, const char *name),
                         void *arg)
{
    DebugInfoFinder finder;
    finder.processModule(*unwrap(m));
    for (const DISubprogram *one : finder.subprograms())
        visit_source(one->getFile(), visit, arg);
    for (const DIScope *one : finder.scopes())
        visit_source(one->getFile(), visit, arg);
}

LLVMValueRef dh_shim_normal_way(LLVMValueRef call)
{
    auto *inst = unwrap<CallBase>(call);
    BasicBlock *to = inst->getSuccessor(0); /* of an invoke and of a callbr: where it goes on */
    return wrap(SplitEdge(inst->getParent(), to)->getTerminator());
}

bool dh_shim_is_debug(LLVMValueRef inst)
{
    return isa<DbgInfoIntrinsic>(unwrap(inst));
}

unsigned dh_shim_predecessors(LLVMBasicBlockRef bb, LLVMBasicBlockRef *ret, unsigned room)
{
    unsigned n = 0;
    for (BasicBlock *before : predecessors(unwrap(bb))) {
        if (n < room)
            ret[n] = wrap(before);
        n++;
    }
    return n;
}

void dh_shim_move_to_front(LLVMValueRef fn)
{
    auto *f = unwrap<Function>(fn);
    Module *m = f->getParent();
    f->removeFromParent();
    m->getFunctionList().push_front(f);
}

void dh_shim_replace_calls(LLVMValueRef old, LLVMValueRef by)
{
    auto *from = unwrap<Function>(old), *to = unwrap<Function>(by);
    for (Use &use : make_early_inc_range(from->uses())) {
        auto *call = dyn_cast<CallBase>(use.getUser());
        if (call && call->isCallee(&use) && call->getFunctionType() == to->getFunctionType())
            call->setCalledFunction(to);
    }
}
