/*
 * vtables.cpp - the part of deadheat-attributes.so by which the pass knows pointers to vtables in code that
 * is not optimised.
 *
 * clang marks loads and stores of an object's pointer to its vtable with a tag of type-based alias analysis,
 * by which loads from the vtable, which nobody writes, can be left unchecked. At -O0 and under
 * -fno-strict-aliasing it tags nothing, unless ThreadSanitizer is on: then it tags these accesses all the
 * same, and hardly any others. What decides is the option as it is when the code generator is set up, and
 * nothing else that is read in that moment looks at it. So it is on for that moment only: one consumer in
 * front of the code generator's switches it on, one behind it switches it back.
 *
 * src/ir/shim.cpp sees to it that these tags tell the optimiser nothing.
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
