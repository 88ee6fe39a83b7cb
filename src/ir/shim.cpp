/*
 * shim.cpp - registers the passes with clang and lld, and gives the C files access to what LLVM-C lacks.
 *
 * The pass runs at the very end of the optimisation pipeline (also at -O0), so that what the compiler
 * removes costs nothing, and so that no optimisation has to understand our calls. Whole programs are analysed
 * at the beginning of link-time optimisation, or, if checks are to be omitted, at its end, and
 * instrumented there.
 */
#include "shim.h"
#include "shim_promote.h"

#include <climits>
#include <cstdlib>

#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/SpecialCaseList.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

/* Names of files, a line each. */
static std::unique_ptr<SpecialCaseList> read_ignorelists()
{
    const char *given = getenv("DEADHEAT_IGNORELISTS");
    SmallVector<StringRef, 4> lines;
    StringRef(given ? given : "").split(lines, '\n', -1, /*KeepEmpty=*/false);
    std::vector<std::string> paths(lines.begin(), lines.end());
    std::string error;
    auto list = SpecialCaseList::create(paths, *vfs::getRealFileSystem(), error);
    if (!list)
        report_fatal_error(Twine(error), /*gen_crash_diag=*/false);
    return list;
}

bool dh_shim_ignorelist_has(const char *prefix, const char *name)
{
    static const std::unique_ptr<SpecialCaseList> list = read_ignorelists();
    return list->inSection("thread", prefix, name);
}

bool dh_shim_each_object(LLVMValueRef ptr, bool (*accept)(void *, LLVMValueRef), void *arg)
{
    /* Deep enough for code after inlining; beyond it, the intermediate pointer itself is the object. */
    const unsigned max_lookup = 32;
    SmallVector<const Value *, 4> objects;
    getUnderlyingObjects(unwrap(ptr), objects, nullptr, max_lookup);
    for (const Value *object : objects)
        if (!accept(arg, wrap(const_cast<Value *>(object))))
            return false;
    return !objects.empty();
}

/* A thread-local variable is reached through an intrinsic that yields the current thread's copy; only the
 * guard of thread-local objects, which is clang's own, by its name. */
static bool thread_local_may_be_captured(const GlobalVariable *variable)
{
    for (const Use &use : variable->uses()) {
        const User *user = use.getUser();
        auto *call = dyn_cast<IntrinsicInst>(user);
        bool address = call && call->getIntrinsicID() == Intrinsic::threadlocal_address;
        bool access = isa<LoadInst>(user) ||
                      (isa<StoreInst>(user) && use.getOperandNo() == StoreInst::getPointerOperandIndex()) ||
                      (call && call->getIntrinsicID() == Intrinsic::invariant_start);
        if (address ? PointerMayBeCaptured(call, true, true) : !access)
            return true;
    }
    return false;
}

bool dh_shim_may_be_captured(LLVMValueRef ptr)
{
    /* LLVM gives up at a hundred uses, which a local of a long function easily has; the answer is asked for
     * once a variable, so looking at all of them stays linear. */
    const unsigned all_uses = UINT_MAX;
    if (auto *variable = dyn_cast<GlobalVariable>(unwrap(ptr)))
        return thread_local_may_be_captured(variable);
    return PointerMayBeCaptured(unwrap(ptr), /*ReturnCaptures=*/true, /*StoreCaptures=*/true, all_uses);
}

LLVMValueRef dh_shim_base(LLVMValueRef ptr, long long *ret_offset)
{
    Value *v = unwrap(ptr);
    const Function *f = nullptr;
    if (auto *inst = dyn_cast<Instruction>(v))
        f = inst->getFunction();
    else if (auto *arg = dyn_cast<Argument>(v))
        f = arg->getParent();
    *ret_offset = 0;
    if (!f)
        return ptr;
    const DataLayout &dl = f->getParent()->getDataLayout();
    APInt offset(dl.getIndexTypeSizeInBits(v->getType()), 0);
    Value *base = v->stripAndAccumulateConstantOffsets(dl, offset, /*AllowNonInbounds=*/true);
    *ret_offset = offset.getSExtValue();
    return wrap(base);
}

bool dh_shim_is_vtable_access(LLVMValueRef inst)
{
    MDNode *tag = unwrap<Instruction>(inst)->getMetadata(LLVMContext::MD_tbaa);
    return tag && tag->isTBAAVtableAccess();
}

bool dh_shim_is_invariant_load(LLVMValueRef load)
{
    return unwrap<Instruction>(load)->hasMetadata(LLVMContext::MD_invariant_load);
}

bool dh_shim_is_added_by_compiler(LLVMValueRef inst)
{
    return unwrap<Instruction>(inst)->hasMetadata(LLVMContext::MD_nosanitize);
}

bool dh_shim_is_swifterror(LLVMValueRef ptr)
{
    return unwrap(ptr)->isSwiftError();
}

bool dh_shim_is_byval_argument(LLVMValueRef value)
{
    auto *arg = dyn_cast<Argument>(unwrap(value));
    return arg && arg->hasByValAttr();
}

unsigned dh_shim_argument_align(LLVMValueRef call, unsigned arg)
{
    return unwrap<CallBase>(call)->getParamAlign(arg).valueOrOne().value();
}

unsigned dh_shim_call_traits(LLVMValueRef call)
{
    auto *cb = unwrap<CallBase>(call);
    unsigned traits = 0;
    if (cb->isInlineAsm())
        traits |= DH_CALL_ASM;
    if (cb->doesNotAccessMemory())
        traits |= DH_CALL_READNONE;
    if (cb->hasFnAttr(Attribute::NoSync))
        traits |= DH_CALL_NOSYNC;
    if (cb->doesNotThrow() && cb->hasFnAttr(Attribute::WillReturn))
        traits |= DH_CALL_COMES_BACK;
    if (cb->hasFnAttr(Attribute::ReturnsTwice))
        traits |= DH_CALL_RETURNS_TWICE;
    if (cb->doesNotThrow() && cb->doesNotReturn())
        traits |= DH_CALL_NEVER_BACK;
    return traits;
}

bool dh_shim_is_interposable(LLVMValueRef fn)
{
    return unwrap<Function>(fn)->isInterposable();
}

struct dh_shim_library {
    TargetLibraryInfoImpl impl;
};

struct dh_shim_library *dh_shim_library_new(LLVMModuleRef m)
{
    return new dh_shim_library{TargetLibraryInfoImpl(Triple(unwrap(m)->getTargetTriple()))};
}

void dh_shim_library_free(struct dh_shim_library *library)
{
    delete library;
}

const char *dh_shim_library_name(struct dh_shim_library *library, LLVMValueRef call)
{
    auto *cb = unwrap<CallBase>(call);
    TargetLibraryInfo known(library->impl,
                            cb->getFunction()); /* the caller may be compiled with -fno-builtin */
    LibFunc which;
    if (!known.getLibFunc(*cb, which) || !known.has(which))
        return nullptr;
    return cb->getCalledFunction()->getName().data();
}

bool dh_shim_is_shared_code(LLVMModuleRef m)
{
    Module *module = unwrap(m);
    return module->getPICLevel() != PICLevel::NotPIC && module->getPIELevel() == PIELevel::Default;
}

void dh_shim_set_dso_local(LLVMValueRef global, bool local)
{
    unwrap<GlobalValue>(global)->setDSOLocal(local);
}

void dh_shim_drop_named_metadata(LLVMModuleRef m)
{
    Module *module = unwrap(m);
    while (!module->named_metadata_empty())
        module->eraseNamedMetadata(&*module->named_metadata_begin());
}

void dh_shim_add_constructor(LLVMModuleRef m, LLVMValueRef function, int priority)
{
    appendToGlobalCtors(*unwrap(m), unwrap<Function>(function), priority);
}

void dh_shim_add_destructor(LLVMModuleRef m, LLVMValueRef function, int priority)
{
    appendToGlobalDtors(*unwrap(m), unwrap<Function>(function), priority);
}

void dh_shim_keep(LLVMModuleRef m, LLVMValueRef global)
{
    appendToUsed(*unwrap(m), {unwrap<GlobalValue>(global)});
}

void dh_shim_error(LLVMModuleRef m, const char *sentence)
{
    unwrap(m)->getContext().emitError(sentence);
}

void dh_shim_warn(LLVMModuleRef m, const char *sentence)
{
    /* The kind that emitError makes too: of those without a place, the only one for everybody. */
    unwrap(m)->getContext().diagnose(DiagnosticInfoInlineAsm(sentence, DS_Warning));
}

/* sanitize_thread is LLVM's name for "no accesses that the source does not make": no speculated loads, no
 * widened ones. Set while the optimiser runs, gone before our pass looks, so that every access that is left
 * is one that the program makes, and a report is never about one that it does not. Nor are functions inlined
 * into others that differ in it: what a user wants ignored stays apart from what is checked. */
static void mark_functions(Module &module, bool marked)
{
    for (Function &f : module)
        if (!marked)
            f.removeFnAttr(Attribute::SanitizeThread);
        else if (!f.isDeclaration() && !f.hasFnAttribute(Attribute::DisableSanitizerInstrumentation) &&
                 !dh_ir_ignores_plain(wrap(&f)))
            f.addFnAttr(Attribute::SanitizeThread);
}

static bool is_about_types(const MDNode *tag)
{
    auto *type = tag->getNumOperands() > 1 ? dyn_cast<MDNode>(tag->getOperand(1)) : nullptr;
    auto *name = type && type->getNumOperands() > 0 ? dyn_cast<MDString>(type->getOperand(0)) : nullptr;
    return !tag->isTBAAVtableAccess() && !(name && name->getString() == "omnipotent char");
}

/* Where types say nothing about aliases (-fno-strict-aliasing, -O0), src/ir/vtables.cpp has clang tag
 * pointers to vtables nevertheless. Such a module has only those tags and that of `char`, and the optimiser
 * would take these two for strangers. Tags below different roots may alias, like no tags at all; so ours get
 * a root of their own. */
static void silence_vtable_tags(Module &module)
{
    SmallVector<Instruction *, 32> tagged;
    for (Function &f : module)
        for (Instruction &inst : instructions(f))
            if (MDNode *tag = inst.getMetadata(LLVMContext::MD_tbaa)) {
                if (is_about_types(tag))
                    return;
                if (tag->isTBAAVtableAccess())
                    tagged.push_back(&inst);
            }
    MDBuilder builder(module.getContext());
    MDNode *type = builder.createTBAAScalarTypeNode("vtable pointer", builder.createTBAARoot("deadheat"));
    for (Instruction *inst : tagged)
        inst->setMetadata(LLVMContext::MD_tbaa, builder.createTBAAStructTagNode(type, type, 0));
}

/* The attribute does not stop the vectoriser from loading the gaps between the fields it wants. */
static void forbid_loading_gaps()
{
    auto &options = cl::getRegisteredOptions();
    auto found = options.find("enable-interleaved-mem-accesses");
    if (found != options.end() && found->second->getNumOccurrences() == 0)
        found->second->addOccurrence(1, found->first(), "false");
}

namespace
{
struct MarkPass : PassInfoMixin<MarkPass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        mark_functions(module, true);
        silence_vtable_tags(module);
        return PreservedAnalyses::all();
    }
    static bool isRequired()
    {
        return true;
    }
};

struct InstrumentPass : PassInfoMixin<InstrumentPass> {
    bool inlining;
    explicit InstrumentPass(bool inlining) : inlining(inlining)
    {
    }
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        mark_functions(module, false);
        return dh_ir_instrument_module(wrap(&module), inlining) ? PreservedAnalyses::none()
                                                                : PreservedAnalyses::all();
    }
    /* Also on functions marked optnone, that is, at -O0. */
    static bool isRequired()
    {
        return true;
    }
};

struct PrunePass : PassInfoMixin<PrunePass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        mark_functions(module, false);
        return dh_ir_instrument_program(wrap(&module)) ? PreservedAnalyses::none() : PreservedAnalyses::all();
    }
    static bool isRequired()
    {
        return true;
    }
};

/* The marks alone, for `opt`. */
struct MarkSafePass : PassInfoMixin<MarkSafePass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        dh_ir_prune_mark(wrap(&module), nullptr);
        return PreservedAnalyses::all();
    }
};

struct EarlyPass : PassInfoMixin<EarlyPass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        return dh_ir_instrument_early(wrap(&module)) ? PreservedAnalyses::none() : PreservedAnalyses::all();
    }
    static bool isRequired()
    {
        return true;
    }
};

struct AnalysePass : PassInfoMixin<AnalysePass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        dh_ir_analyse_program(wrap(&module));
        return PreservedAnalyses::none();
    }
    static bool isRequired()
    {
        return true;
    }
};

struct CaperPass : PassInfoMixin<CaperPass> {
    bool inlining;
    explicit CaperPass(bool inlining) : inlining(inlining)
    {
    }
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        dh_ir_caper_program(wrap(&module), inlining);
        return PreservedAnalyses::none();
    }
    static bool isRequired()
    {
        return true;
    }
};

struct BuiltPass : PassInfoMixin<BuiltPass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        dh_ir_built_mark(wrap(&module));
        return PreservedAnalyses::all();
    }
    static bool isRequired()
    {
        return true;
    }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "deadheat", "1", [](PassBuilder &builder) {
                /* The end of a linker's pipeline is also that of the optimiser, where nothing is to be
                 * instrumented then. */
                const bool pruning = getenv("DEADHEAT_PRUNE") || getenv("DEADHEAT_FILTERABLE");
                const bool caper = getenv("DEADHEAT_CAPER") != nullptr;
                auto linking = std::make_shared<bool>(false);
                builder.registerFullLinkTimeOptimizationEarlyEPCallback(
                    [linking, pruning, caper](ModulePassManager &passes, OptimizationLevel) {
                        *linking = true;
                        if (pruning) {
                            forbid_loading_gaps();
                            dh_shim_forbid_promotion();
                            FunctionPassManager functions;
                            dh_shim_promote(functions);
                            passes.addPass(createModuleToFunctionPassAdaptor(std::move(functions)));
                        } else if (!caper)
                            passes.addPass(AnalysePass());
                    });
                builder.registerFullLinkTimeOptimizationLastEPCallback(
                    [pruning, caper](ModulePassManager &passes, OptimizationLevel) {
                        if (pruning)
                            passes.addPass(PrunePass());
                        else if (caper)
                            passes.addPass(CaperPass(true));
                        else
                            passes.addPass(BuiltPass());
                    });
                builder.registerPipelineStartEPCallback([](ModulePassManager &passes, OptimizationLevel) {
                    forbid_loading_gaps();
                    dh_shim_forbid_promotion();
                    passes.addPass(EarlyPass());
                    passes.addPass(MarkPass());
                });
                builder.registerVectorizerStartEPCallback(
                    [](FunctionPassManager &passes, OptimizationLevel) { dh_shim_promote(passes); });
                /* A fat object's pipeline ends twice: before its bitcode is put aside, which is to be
                 * instrumented only when it is linked, and at the end of the ordinary code. */
                auto ended = std::make_shared<bool>(!pruning);
                builder.registerOptimizerLastEPCallback(
                    [linking, ended](ModulePassManager &passes, OptimizationLevel) {
                        if (!*linking && *ended)
                            passes.addPass(InstrumentPass(true));
                        *ended = true;
                    });
                /* By name for `opt -passes=...`: deadheat-raw and deadheat-caper-raw leave the calls as
                 * calls, and deadheat-prune in front of either takes the module for a whole program. */
                builder.registerPipelineParsingCallback(
                    [](StringRef name, ModulePassManager &passes, ArrayRef<PassBuilder::PipelineElement>) {
                        if (name == "deadheat-prune")
                            passes.addPass(MarkSafePass());
                        else if (name == "deadheat-caper" || name == "deadheat-caper-raw")
                            passes.addPass(CaperPass(name == "deadheat-caper"));
                        else if (name == "deadheat" || name == "deadheat-raw")
                            passes.addPass(InstrumentPass(name == "deadheat"));
                        else
                            return false;
                        return true;
                    });
            }};
}
