/*
 * vtables.cpp - the part of deadheat-attributes.so by which the pass recognises vtable pointers in
 * unoptimised code.
 *
 * clang marks loads and stores of an object's vtable pointer with a tag of type-based alias analysis, so that
 * loads from the vtable, which is never written, can be left unchecked. At -O0 and under
 * -fno-strict-aliasing it tags nothing, unless ThreadSanitizer is on: then it still tags these
 * accesses, and hardly any others. The state of that option when the code generator is set up decides, and
 * nothing else reads it at that moment. So it is on for that moment only: one consumer before the code
 * generator's switches it on, one after it switches it back.
 *
 * src/ir/shim.cpp makes sure that the optimiser does not use these tags.
 */
#include "clang/AST/ASTConsumer.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"

using namespace clang;

namespace
{

class Switch : public ASTConsumer
{
    LangOptions &options;
    const bool on;

    void Initialize(ASTContext &) override
    {
        options.Sanitize.set(SanitizerKind::Thread, on);
    }

  public:
    Switch(LangOptions &options, bool on) : options(options), on(on)
    {
    }
};

template <bool on> class Action : public PluginASTAction
{
    std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &instance, StringRef) override
    {
        LangOptions &options = instance.getLangOpts();
        /* The program's own use of the option, which the driver rejects, would not be ours to end. */
        if (!options.CPlusPlus || options.Sanitize.has(SanitizerKind::Thread))
            return std::make_unique<ASTConsumer>();
        return std::make_unique<Switch>(options, on);
    }

    bool ParseArgs(const CompilerInstance &, const std::vector<std::string> &) override
    {
        return true;
    }

    ActionType getActionType() override
    {
        return on ? AddBeforeMainAction : AddAfterMainAction;
    }
};

} // namespace

static FrontendPluginRegistry::Add<Action<true>> before("deadheat-vtables", "has pointers to vtables tagged");
static FrontendPluginRegistry::Add<Action<false>> after("deadheat-vtables-end",
                                                        "ends what deadheat-vtables began");
