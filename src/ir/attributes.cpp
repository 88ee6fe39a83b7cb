/*
 * attributes.cpp - a plugin for clang's front end, which passes no_sanitize("thread") attributes of programs
 * on to the pass.
 *
 * clang drops the attribute when it generates IR without -fsanitize=thread, and that option is not a
 * solution: it adds ThreadSanitizer's pass and tells the program, by __has_feature(thread_sanitizer), that
 * its runtime is there (docs/design/instrumentation.md). So each function that has the attribute, in any of
 * its spellings, also gets what DH_UNTRACKED stands for in include/deadheat/deadheat.h.
 *
 * Invariant: a function has its annotation before clang generates code for it. The plugin's consumer comes
 * before the code generator's, which emits a function when it receives its declaration, or later.
 *
 * It also annotates functions whose source file an ignorelist names (-fsanitize-ignorelist=, `src:`): the
 * pass knows their names, but not where they come from. clang reads the lists, even where no sanitizer asks
 * for them.
 *
 * It is a separate shared object, not part of the pass, because opt and the linker load the pass too and have
 * no AST.
 */
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/NoSanitizeList.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"

using namespace clang;

static bool is_exempt(const FunctionDecl *fn)
{
    for (const auto *attr : fn->specific_attrs<NoSanitizeAttr>())
        if (attr->getMask() & SanitizerKind::Thread)
            return true;
    return false;
}

static bool is_annotated(const FunctionDecl *fn, StringRef text)
{
    for (const auto *attr : fn->specific_attrs<AnnotateAttr>())
        if (attr->getAnnotation() == text)
            return true;
    return false;
}

static void mark_function(FunctionDecl *fn)
{
    if (!is_exempt(fn) || is_annotated(fn, "deadheat::untracked"))
        return;
    ASTContext &context = fn->getASTContext();
    fn->addAttr(AnnotateAttr::CreateImplicit(context, "deadheat::untracked", nullptr, 0));
    /* Inlined code is its caller's. Where the program insists on it, that is how ThreadSanitizer sees it too.
     */
    if (!fn->hasAttr<AlwaysInlineAttr>() && !fn->hasAttr<NoInlineAttr>())
        fn->addAttr(NoInlineAttr::CreateImplicit(context));
}

/* Functions below a declaration; not those inside function bodies (lambdas, local classes). */
static void mark(Decl *decl)
{
    if (auto *of_template = dyn_cast<FunctionTemplateDecl>(decl))
        return mark(of_template->getTemplatedDecl()); /* its instances inherit the attributes */
    if (auto *of_template = dyn_cast<ClassTemplateDecl>(decl))
        return mark(of_template->getTemplatedDecl());
    if (auto *fn = dyn_cast<FunctionDecl>(decl))
        return mark_function(fn);
    if (isa<NamespaceDecl, LinkageSpecDecl, ExportDecl, CXXRecordDecl>(decl))
        for (Decl *inner : cast<DeclContext>(decl)->decls())
            mark(inner);
}

/* Where clang itself takes a function to be: an instance of a template is where the template is. */
static SourceLocation place_of(const FunctionDecl *fn)
{
    const FunctionDecl *pattern = fn->getTemplateInstantiationPattern();
    return pattern && pattern->hasBody() ? pattern->getLocation() : fn->getLocation();
}

static void mark_ignored(FunctionDecl *fn)
{
    ASTContext &context = fn->getASTContext();
    SourceLocation at = place_of(fn);
    if (at.isValid() && context.getNoSanitizeList().containsLocation(SanitizerKind::Thread, at) &&
        !is_annotated(fn, "deadheat::ignored"))
        fn->addAttr(AnnotateAttr::CreateImplicit(context, "deadheat::ignored", nullptr, 0));
}

namespace
{

/* Every function, wherever it is: in functions, made by the compiler, instances of templates. */
class Ignorer : public RecursiveASTVisitor<Ignorer>
{
  public:
    bool shouldVisitTemplateInstantiations() const
    {
        return true;
    }

    bool shouldVisitImplicitCode() const
    {
        return true;
    }

    bool VisitFunctionDecl(FunctionDecl *fn)
    {
        mark_ignored(fn);
        return true;
    }
};

class Consumer : public ASTConsumer
{
    bool HandleTopLevelDecl(DeclGroupRef group) override
    {
        for (Decl *decl : group) {
            mark(decl);
            if (!decl->getASTContext().getLangOpts().NoSanitizeFiles.empty())
                Ignorer().TraverseDecl(decl);
        }
        return true;
    }

    /* What clang adds to a class when it is first needed has been in no group; nor has code been made of it
     * yet. */
    void HandleTranslationUnit(ASTContext &context) override
    {
        if (!context.getLangOpts().NoSanitizeFiles.empty())
            Ignorer().TraverseDecl(context.getTranslationUnitDecl());
    }

    void HandleInlineFunctionDefinition(FunctionDecl *fn) override
    {
        mark_function(fn);
    }
};

class Action : public PluginASTAction
{
    std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &, StringRef) override
    {
        return std::make_unique<Consumer>();
    }

    bool ParseArgs(const CompilerInstance &, const std::vector<std::string> &) override
    {
        return true;
    }

    ActionType getActionType() override
    {
        return AddBeforeMainAction;
    }
};

} // namespace

static FrontendPluginRegistry::Add<Action> registration("deadheat", "obeys no_sanitize(\"thread\")");
