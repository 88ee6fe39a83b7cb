/*
 * statements.cpp - the part of deadheat-attributes.so that tells the pass where an exception would land.
 *
 * For `deadheat c++ --dh-exceptions`. An access is not a call, so clang gives it no way to unwind: a try
 * block or a scope with destructors in which nothing is called that might throw has no landing pad at all. So
 * each statement, and each condition, is preceded by a call of a function that might throw, __dh_statement.
 * clang turns it into a call, or into an invoke with the landing pad of that place, which is also that of the
 * statement's accesses; src/ir/throwing.c reads these and removes them before anything is optimised.
 *
 * Left alone: functions that must not throw (they end the program if something does; a race in them is not
 * thrown), and templates (their instances are marked). C functions are marked too: otherwise clang would
 * infer that those without calls do not throw.
 *
 * Invariant: a function is marked before clang generates code for it, once (see attributes.cpp). constexpr
 * functions are marked only when the front end has finished evaluating them; they are inline, so clang
 * generates their code late as well.
 */
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "llvm/ADT/DenseSet.h"

using namespace clang;

namespace
{

class Marker
{
  public:
    void mark_function(FunctionDecl *fn)
    {
        if (!fn->doesThisDeclarationHaveABody() || fn->isDependentContext() || !marked.insert(fn).second)
            return;
        context = &fn->getASTContext();
        if (fn->isConsteval() || isa<CXXDestructorDecl>(fn) || is_nothrow(fn))
            return;
        if (fn->isConstexpr())
            waiting.push_back(fn);
        else
            mark_body(fn);
    }

    void mark_waiting()
    {
        for (size_t i = 0; i < waiting.size(); i++)
            mark_body(waiting[i]);
        waiting.clear();
    }

    void mark(Decl *decl)
    {
        if (isa<FunctionTemplateDecl, ClassTemplateDecl>(decl))
            return;
        if (auto *fn = dyn_cast<FunctionDecl>(decl))
            return mark_function(fn);
        if (auto *variable = dyn_cast<VarDecl>(decl)) {
            if (variable->hasInit() && !variable->getType()->isDependentType())
                mark_children(variable->getInit()); /* lambdas in it */
            return;
        }
        if (isa<NamespaceDecl, LinkageSpecDecl, ExportDecl, CXXRecordDecl>(decl))
            for (Decl *inner : cast<DeclContext>(decl)->decls())
                mark(inner);
    }

  private:
    ASTContext *context = nullptr;
    FunctionDecl *callee = nullptr;
    llvm::DenseSet<FunctionDecl *> marked;
    std::vector<FunctionDecl *> waiting;

    void mark_body(FunctionDecl *fn)
    {
        Stmt *body = fn->getBody();
        if (auto *coroutine = dyn_cast_or_null<CoroutineBodyStmt>(body))
            mark_coroutine(coroutine);
        else if (body)
            fn->setBody(mark_statement(body));
    }

    /* Only what the program wrote: the rest is the promise's, made by clang. */
    void mark_coroutine(CoroutineBodyStmt *coroutine)
    {
        for (Stmt *&part : coroutine->children())
            if (part == coroutine->getBody()) {
                part = mark_statement(part);
                return;
            }
    }

    static bool is_nothrow(const FunctionDecl *fn)
    {
        auto *type = fn->getType()->getAs<FunctionProtoType>();
        return type && !isUnresolvedExceptionSpec(type->getExceptionSpecType()) && type->isNothrow();
    }

    FunctionDecl *find_callee()
    {
        if (callee)
            return callee;
        QualType type = context->getFunctionType(context->VoidTy, {}, FunctionProtoType::ExtProtoInfo());
        auto *unit = context->getTranslationUnitDecl();
        callee = FunctionDecl::Create(*context, unit, SourceLocation(), SourceLocation(),
                                      DeclarationName(&context->Idents.get("__dh_statement")), type, nullptr,
                                      SC_Extern);
        callee->addAttr(AsmLabelAttr::CreateImplicit(*context, "__dh_statement", /*IsLiteralLabel=*/true));
        return callee;
    }

    Expr *make_call(SourceLocation at)
    {
        FunctionDecl *fn = find_callee();
        auto *name = DeclRefExpr::Create(*context, NestedNameSpecifierLoc(), SourceLocation(), fn, false, at,
                                         fn->getType(), VK_LValue);
        auto *pointer = ImplicitCastExpr::Create(*context, context->getPointerType(fn->getType()),
                                                 CK_FunctionToPointerDecay, name, nullptr, VK_PRValue,
                                                 FPOptionsOverride());
        return CallExpr::Create(*context, pointer, {}, context->VoidTy, VK_PRValue, at, FPOptionsOverride());
    }

    /* The call, then the expression. One that is a constant stays one: it may decide what code there is. */
    Expr *mark_expression(Expr *e)
    {
        if (!e || e->isValueDependent() || e->isEvaluatable(*context))
            return e;
        return BinaryOperator::Create(*context, make_call(e->getBeginLoc()), e, BO_Comma, e->getType(),
                                      e->getValueKind(), e->getObjectKind(), e->getBeginLoc(),
                                      FPOptionsOverride());
    }

    /* What is evaluated when a variable of the statement's own, or the body, has come in between. */
    void mark_conditions(Stmt *s)
    {
        if (auto *choice = dyn_cast<IfStmt>(s)) {
            if (!choice->isConstexpr() && !choice->isConsteval())
                choice->setCond(mark_expression(choice->getCond()));
        } else if (auto *choice = dyn_cast<SwitchStmt>(s)) {
            choice->setCond(mark_expression(choice->getCond()));
        } else if (auto *loop = dyn_cast<WhileStmt>(s)) {
            loop->setCond(mark_expression(loop->getCond()));
        } else if (auto *loop = dyn_cast<DoStmt>(s)) {
            loop->setCond(mark_expression(loop->getCond()));
        } else if (auto *loop = dyn_cast<ForStmt>(s)) {
            loop->setCond(mark_expression(loop->getCond()));
            loop->setInc(mark_expression(loop->getInc()));
        } else if (auto *loop = dyn_cast<CXXForRangeStmt>(s)) {
            loop->setCond(mark_expression(loop->getCond()));
            loop->setInc(mark_expression(loop->getInc()));
        }
    }

    void mark_children(Stmt *s)
    {
        if (auto *lambda = dyn_cast<LambdaExpr>(s)) {
            if (!lambda->getLambdaClass()->isDependentContext() && lambda->getCallOperator())
                mark_function(lambda->getCallOperator());
            return;
        }
        if (auto *declaration = dyn_cast<DeclStmt>(s))
            for (Decl *decl : declaration->decls())
                if (isa<CXXRecordDecl>(decl))
                    mark(decl);
        for (Stmt *&child : s->children())
            if (child)
                child = mark_statement(child);
    }

    /* The statement, or what takes its place. */
    Stmt *mark_statement(Stmt *s)
    {
        mark_children(s);
        mark_conditions(s);
        auto *block = dyn_cast<CompoundStmt>(s);
        if (!block)
            return s;
        llvm::SmallVector<Stmt *, 32> statements;
        for (Stmt *inner : block->body()) {
            /* A jump would pass over a call in front of a label. */
            if (!isa<NullStmt, SwitchCase, LabelStmt>(inner))
                statements.push_back(make_call(inner->getBeginLoc()));
            statements.push_back(inner);
        }
        FPOptionsOverride options;
        if (block->hasStoredFPFeatures())
            options = block->getStoredFPFeatures();
        return CompoundStmt::Create(*context, statements, options, block->getLBracLoc(),
                                    block->getRBracLoc());
    }
};

class Consumer : public ASTConsumer
{
    Marker marker;

    bool HandleTopLevelDecl(DeclGroupRef group) override
    {
        for (Decl *decl : group)
            marker.mark(decl);
        return true;
    }

    void HandleInlineFunctionDefinition(FunctionDecl *fn) override
    {
        marker.mark_function(fn);
    }

    void HandleTranslationUnit(ASTContext &) override
    {
        marker.mark_waiting();
    }
};

class Action : public PluginASTAction
{
    std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &compiler, StringRef) override
    {
        if (!compiler.getLangOpts().Exceptions)
            return std::make_unique<ASTConsumer>();
        return std::make_unique<Consumer>();
    }

    bool ParseArgs(const CompilerInstance &, const std::vector<std::string> &) override
    {
        return true;
    }

    /* If it is asked for by -add-plugin. */
    ActionType getActionType() override
    {
        return CmdlineBeforeMainAction;
    }
};

} // namespace

static FrontendPluginRegistry::Add<Action> registration("deadheat-exceptions", "marks statements");
