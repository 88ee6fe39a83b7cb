/*
 * code.cpp - deadheat-code.so: what the functions of a file say, as one number each, for builds whose table
 * of pairs is embedded (field and Caper builds).
 *
 * A hive carries verdicts over to a later build. That the places of two accesses are the same does not show
 * that the source is: a line may be edited in place. So clang's code of each function is hashed before
 * anything is optimised, when it still follows the source alone: macros and types are resolved, and nothing
 * of other functions is in it yet. The hash is of what the code does. It leaves out what moves when other
 * parts of a file are edited: lines, the numbers of string constants and of metadata, names of local values.
 *
 * The hashes go with the bitcode as named metadata, !{unit, function, hash}, which every optimisation leaves
 * alone and the linker concatenates (whole/code.c). Metadata of a function itself would be lost where
 * the function is inlined and dropped.
 *
 * Not seen: the bodies of called functions, and the initial values of variables.
 */
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"

#include "ir/whole/code.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace llvm;

namespace
{
class Code
{
    std::string text; /* of the function so far: every part says how long it is, or has a fixed length */
    DenseMap<const Value *, unsigned> locals;

    void put(uint64_t n)
    {
        text.append(reinterpret_cast<const char *>(&n), sizeof n);
    }

    void put(StringRef s)
    {
        put(s.size());
        text.append(s.data(), s.size());
    }

    void put(const APInt &n)
    {
        put(n.getBitWidth());
        for (unsigned i = 0; i < n.getNumWords(); i++)
            put(n.getRawData()[i]);
    }

    /* Of a structure its members and not its name, which may have got a number. */
    void put(const Type *type)
    {
        put(type->getTypeID());
        if (type->isIntegerTy())
            put(type->getIntegerBitWidth());
        if (auto *array = dyn_cast<ArrayType>(type))
            put(array->getNumElements());
        if (auto *vector = dyn_cast<VectorType>(type))
            put(vector->getElementCount().getKnownMinValue());
        if (auto *structure = dyn_cast<StructType>(type))
            put(structure->isPacked());
        if (auto *function = dyn_cast<FunctionType>(type))
            put(function->isVarArg());
        put(type->getNumContainedTypes());
        for (const Type *part : type->subtypes())
            put(part);
    }

    /* Constants that clang has named, such as strings, are their contents. */
    void put_global(const GlobalValue &global)
    {
        auto *variable = dyn_cast<GlobalVariable>(&global);
        bool nameless = variable && variable->hasPrivateLinkage() && variable->hasInitializer();
        put(nameless);
        put(global.isThreadLocal());
        if (nameless)
            put_constant(*variable->getInitializer());
        else
            put(global.getName());
    }

    void put_constant(const Constant &constant)
    {
        put(constant.getValueID());
        put(constant.getType());
        if (auto *global = dyn_cast<GlobalValue>(&constant))
            return put_global(*global);
        if (auto *number = dyn_cast<ConstantInt>(&constant))
            return put(number->getValue());
        if (auto *number = dyn_cast<ConstantFP>(&constant))
            return put(number->getValueAPF().bitcastToAPInt());
        if (auto *data = dyn_cast<ConstantDataSequential>(&constant))
            return put(data->getRawDataValues());
        if (auto *expression = dyn_cast<ConstantExpr>(&constant))
            put(expression->getOpcode());
        if (auto *step = dyn_cast<GEPOperator>(&constant))
            put(step->getSourceElementType());
        put(constant.getNumOperands());
        for (const Use &use : constant.operands())
            put_operand(*use.get());
    }

    void put_operand(const Value &value)
    {
        auto known = locals.find(&value);
        put(known != locals.end());
        if (known != locals.end())
            return put(known->second);
        put(value.getValueID());
        if (auto *constant = dyn_cast<Constant>(&value))
            return put_constant(*constant);
        if (auto *assembly = dyn_cast<InlineAsm>(&value)) {
            put(assembly->getAsmString());
            put(assembly->getConstraintString());
        }
    }

    void put_memory(const Instruction &inst)
    {
        put(inst.isVolatile());
        if (auto *load = dyn_cast<LoadInst>(&inst))
            put(static_cast<uint64_t>(load->getOrdering()));
        else if (auto *store = dyn_cast<StoreInst>(&inst))
            put(static_cast<uint64_t>(store->getOrdering()));
        else if (auto *fence = dyn_cast<FenceInst>(&inst))
            put(static_cast<uint64_t>(fence->getOrdering()));
        else if (auto *update = dyn_cast<AtomicRMWInst>(&inst)) {
            put(update->getOperation());
            put(static_cast<uint64_t>(update->getOrdering()));
        } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&inst)) {
            put(static_cast<uint64_t>(exchange->getSuccessOrdering()));
            put(static_cast<uint64_t>(exchange->getFailureOrdering()));
        }
    }

    /* What an instruction has apart from its operands. */
    void put_details(const Instruction &inst)
    {
        put(inst.getOpcode());
        put(inst.getType());
        put(inst.getRawSubclassOptionalData());
        put_memory(inst);
        if (auto *compare = dyn_cast<CmpInst>(&inst))
            put(compare->getPredicate());
        else if (auto *step = dyn_cast<GetElementPtrInst>(&inst))
            put(step->getSourceElementType());
        else if (auto *variable = dyn_cast<AllocaInst>(&inst))
            put(variable->getAllocatedType());
        else if (auto *call = dyn_cast<CallBase>(&inst))
            put(call->getFunctionType());
        else if (auto *pad = dyn_cast<LandingPadInst>(&inst))
            put(pad->isCleanup());
        if (auto *part = dyn_cast<ExtractValueInst>(&inst))
            for (unsigned index : part->indices())
                put(index);
        if (auto *part = dyn_cast<InsertValueInst>(&inst))
            for (unsigned index : part->indices())
                put(index);
        if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&inst))
            for (int index : shuffle->getShuffleMask())
                put(static_cast<uint64_t>(index));
        if (auto *merge = dyn_cast<PHINode>(&inst))
            for (const BasicBlock *from : merge->blocks())
                put_operand(*from);
    }

    /* A failing assert says where it is, which is not part of what it does. */
    static bool is_place(const Instruction &inst, unsigned operand)
    {
        auto *call = dyn_cast<CallBase>(&inst);
        const Function *callee = call ? call->getCalledFunction() : nullptr;
        return callee && callee->getName() == "__assert_fail" && (operand == 1 || operand == 2);
    }

    static bool is_left_out(const Instruction &inst)
    {
        auto *call = dyn_cast<IntrinsicInst>(&inst);
        return call && call->isAssumeLikeIntrinsic();
    }

    void number(const Function &function)
    {
        unsigned n = 0;
        for (const Argument &argument : function.args())
            locals[&argument] = n++;
        for (const BasicBlock &block : function) {
            locals[&block] = n++;
            for (const Instruction &inst : block)
                if (!is_left_out(inst))
                    locals[&inst] = n++;
        }
    }

  public:
    explicit Code(const Function &function)
    {
        number(function);
        put(function.getFunctionType());
        for (const BasicBlock &block : function) {
            put(block.size() != 0);
            for (const Instruction &inst : block) {
                if (is_left_out(inst))
                    continue;
                put_details(inst);
                put(inst.getNumOperands());
                for (const Use &use : inst.operands())
                    if (!is_place(inst, use.getOperandNo()))
                        put_operand(*use.get());
            }
            put(locals[&block]);
        }
    }

    /* Never 0, which means that nothing is known. */
    uint64_t hash() const
    {
        uint64_t h = XXH64(text.data(), text.size(), DH_CODE_VERSION);
        return h ? h : 1;
    }
};

struct CodePass : PassInfoMixin<CodePass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        if (module.getNamedMetadata(DH_CODE_METADATA))
            return PreservedAnalyses::all();
        LLVMContext &context = module.getContext();
        NamedMDNode *all = module.getOrInsertNamedMetadata(DH_CODE_METADATA);
        for (const Function &function : module) {
            const DISubprogram *sub = function.getSubprogram();
            if (function.isDeclaration() || !sub || !sub->getUnit())
                continue;
            StringRef name = sub->getLinkageName().empty() ? sub->getName() : sub->getLinkageName();
            Metadata *const entry[] = {MDString::get(context, sub->getUnit()->getFilename()),
                                       MDString::get(context, name),
                                       MDString::get(context, utohexstr(Code(function).hash(), true))};
            all->addOperand(MDTuple::get(context, entry));
        }
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
