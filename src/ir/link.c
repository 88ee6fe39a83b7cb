/*
 * link.c - brings the fast paths into a module, and inlines them when everything has been inserted.
 *
 * fastpath.bc is in the plugin's directory. Its functions become internal, so that each object file keeps the
 * fast paths it was compiled with; a changed interface shows at link time, through the name of
 * __dh_module_init_vN.
 *
 * How code reaches the runtime, which is part of every executable and never of a shared object:
 *   - code for an executable knows that __dh_hot and the slow paths are in the same image: one
 *     %fs-relative instruction, and direct calls;
 *   - code for a shared object goes through the GOT for both. Never through a lazily bound PLT slot:
 *     the dynamic linker's resolver does not keep r10, but the slow paths (preserve_most) promise to.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "ir/ir.h"

static bool is_runtime_name(LLVMValueRef global)
{
    size_t len;
    const char *name = LLVMGetValueName2(global, &len);
    return len > 5 && memcmp(name, "__dh_", 5) == 0;
}

static void add_attribute(struct dh_ir *ir, LLVMValueRef fn, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(ir->ctx, kind, 0));
}

/* The directory of the plugin, absolute; to be freed. */
static char *home(void)
{
    Dl_info self;
    char *path = dladdr((void *)dh_ir_link_fastpath, &self) ? realpath(self.dli_fname, NULL) : NULL;
    char *slash = path ? strrchr(path, '/') : NULL;
    if (slash)
        *slash = '\0';
    return path;
}

/* Where deadheat is, so that a program that is run on its own finds the reporter
 * (src/runtime/report/reporter.c). Every object of an image has it; the linker keeps one. */
LLVMValueRef dh_ir_link_home(struct dh_ir *ir)
{
    char *dir = home();
    if (!dir)
        return NULL;
    LLVMValueRef text = LLVMConstStringInContext2(ir->ctx, dir, strlen(dir), false);
    LLVMValueRef global = LLVMAddGlobal(ir->module, LLVMTypeOf(text), "deadheat_home");
    LLVMSetInitializer(global, text);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMWeakAnyLinkage);
    LLVMSetVisibility(global, LLVMHiddenVisibility);
    free(dir);
    return global;
}

static LLVMModuleRef load(struct dh_ir *ir, const char *file)
{
    char *dir = home(), *path = NULL;
    if (!dir || asprintf(&path, "%s/%s", dir, file) < 0)
        path = NULL;
    free(dir);
    if (!path)
        return NULL;

    LLVMMemoryBufferRef buffer;
    char *message = NULL;
    LLVMModuleRef fast = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message) == 0) {
        if (LLVMParseBitcodeInContext2(ir->ctx, buffer, &fast) != 0)
            fast = NULL;
        LLVMDisposeMemoryBuffer(buffer);
    }
    LLVMDisposeMessage(message);
    free(path);
    return fast;
}

/* Leaves nothing in the fast paths that linking could compare, merge or warn about, and nothing that
 * ties them to one kind of processor: they are inlined into functions of any. */
static void neutralise(struct dh_ir *ir, LLVMModuleRef fast)
{
    LLVMSetTarget(fast, LLVMGetTarget(ir->module));
    LLVMSetDataLayout(fast, LLVMGetDataLayoutStr(ir->module));
    dh_shim_drop_named_metadata(fast);

    /* They kept the fast paths alive until here; from now on only calls do. */
    static const char *const keepers[] = {"llvm.used", "llvm.compiler.used"};
    for (size_t i = 0; i < DH_ARRAY_LEN(keepers); i++) {
        LLVMValueRef keeper = LLVMGetNamedGlobal(fast, keepers[i]);
        if (keeper)
            LLVMDeleteGlobal(keeper);
    }

    static const char *const ties[] = {
        "target-cpu",   "target-features", "tune-cpu", "no-trapping-math", "stack-protector-buffer-size",
        "frame-pointer"};
    for (LLVMValueRef fn = LLVMGetFirstFunction(fast); fn; fn = LLVMGetNextFunction(fn))
        for (size_t i = 0; i < DH_ARRAY_LEN(ties); i++)
            LLVMRemoveStringAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, ties[i],
                                             (unsigned)strlen(ties[i]));
}

bool dh_ir_link_bitcode(struct dh_ir *ir, const char *file)
{
    LLVMModuleRef fast = load(ir, file);
    if (!fast) {
        char sentence[160];
        snprintf(sentence, sizeof(sentence),
                 "deadheat: cannot read %s, which belongs beside deadheat-pass.so; install deadheat again",
                 file);
        dh_shim_error(ir->module, sentence);
        return false;
    }
    neutralise(ir, fast);
    if (LLVMLinkModules2(ir->module, fast) != 0) {
        dh_shim_error(ir->module, "deadheat: this code defines names of deadheat's own (__dh_...)");
        return false;
    }
    return true;
}

void dh_ir_link_adopt(struct dh_ir *ir, bool merge)
{
    bool local = !dh_shim_is_shared_code(ir->module);
    for (LLVMValueRef fn = LLVMGetFirstFunction(ir->module); fn; fn = LLVMGetNextFunction(fn)) {
        if (!is_runtime_name(fn))
            continue;
        if (!merge)
            add_attribute(ir, fn, "nomerge");
        if (!LLVMIsDeclaration(fn)) {
            LLVMSetLinkage(fn, LLVMInternalLinkage);
            continue;
        }
        dh_shim_set_dso_local(fn, local);
        add_attribute(ir, fn, "nounwind");
        if (!local)
            add_attribute(ir, fn, "nonlazybind");
    }
}

bool dh_ir_link_fastpath(struct dh_ir *ir)
{
    if (!dh_ir_link_bitcode(ir, "fastpath.bc"))
        return false;
    dh_ir_emit_declare_all(ir);
    bool local = !dh_shim_is_shared_code(ir->module);
    LLVMValueRef hot = LLVMGetNamedGlobal(ir->module, "__dh_hot");
    LLVMSetThreadLocalMode(hot, local ? LLVMLocalExecTLSModel : LLVMInitialExecTLSModel);
    dh_shim_set_dso_local(hot, local);

    /* Two slow or rare calls merged into one would have one return address: the wrong line in a report. */
    dh_ir_link_adopt(ir, false);
    if (dh_ir_throwing_wanted())
        dh_ir_throwing_link(ir);
    return true;
}

bool dh_ir_run_passes(struct dh_ir *ir, const char *pipeline)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(ir->module, pipeline, NULL, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error)
        return true;
    char *message = LLVMGetErrorMessage(error);
    dh_shim_error(ir->module, message);
    LLVMDisposeErrorMessage(message);
    return false;
}

void dh_ir_inline_fastpath(struct dh_ir *ir)
{
    if (!dh_ir_run_passes(ir, "always-inline"))
        return;
    LLVMValueRef next;
    for (LLVMValueRef fn = LLVMGetFirstFunction(ir->module); fn; fn = next) {
        next = LLVMGetNextFunction(fn);
        if (is_runtime_name(fn) && !LLVMGetFirstUse(fn) &&
            (LLVMIsDeclaration(fn) || LLVMGetLinkage(fn) == LLVMInternalLinkage))
            LLVMDeleteFunction(fn);
    }
    LLVMValueRef hot = LLVMGetNamedGlobal(ir->module, "__dh_hot");
    if (hot && !LLVMGetFirstUse(hot))
        LLVMDeleteGlobal(hot);
}
