/*
 * deadheat_ir.c - the program deadheat-ir: reads bitcode files as one program, analyses it, writes the
 * result.
 *
 *   deadheat-ir [--progress=FD] [--as=NAME] FILE.bc... > RESULT
 *
 * --as gives the following file another name: that of the source it was compiled from.
 *
 * It is a separate program, so that `deadheat` itself does not need LLVM. Errors are reported in one sentence
 * on standard error, with status 2. LLVM checks little of what it reads: damaged bitcode may make it crash,
 * which is then the diagnosis. The analysis needs values in registers; what the front end left in memory is
 * lifted (mem2reg), which changes no access to shared memory.
 */
#include <errno.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/whole/shim_whole.h"
#include "ir/whole/whole.h"
#include "report/pairs.h"

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(2);
}

static void on_progress(void *arg, const char *phase)
{
    dprintf(*(int *)arg, "%s\n", phase);
}

/* A file, and what it is called where that matters to people. */
struct input {
    const char *path, *name;
};

/* What is being done to which file, for LLVM's complaints. */
struct step {
    const char *name;
    bool linking;
};

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *arg)
{
    const struct step *s = arg;
    char *text = LLVMGetDiagInfoDescription(info);
    if (LLVMGetDiagInfoSeverity(info) == LLVMDSError) {
        fprintf(stderr, "'%s' %s: %s\n", s->name,
                s->linking ? "cannot be linked with the files before it" : "is no bitcode that LLVM 19 reads",
                text);
        exit(2);
    }
    LLVMDisposeMessage(text);
}

/* ---- What LLVM dies of while it reads ---- */

static char last_words[4096];

/* Only what a signal handler may do. */
static void on_crash(int number)
{
    (void)number;
    ssize_t n = write(STDERR_FILENO, last_words, strlen(last_words));
    _exit(n < 0 ? 3 : 2);
}

static void catch_crashes(void (*handler)(int))
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE};
    static char stack[64 * 1024]; /* a crash may be a stack that is full */
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
    for (size_t i = 0; i < DH_ARRAY_LEN(crashes); i++)
        sigaction(crashes[i], &(struct sigaction){.sa_handler = handler, .sa_flags = SA_ONSTACK}, NULL);
}

static LLVMModuleRef read_module(LLVMContextRef ctx, const struct input *in)
{
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef m;
    char *why;
    snprintf(last_words, sizeof(last_words), "'%s' is damaged bitcode: LLVM 19 crashes reading it\n",
             in->name);
    if (LLVMCreateMemoryBufferWithContentsOfFile(in->path, &buffer, &why))
        fail(in->name, why);
    char producer[64];
    if (dh_shim_is_newer(buffer, producer, sizeof(producer))) {
        fprintf(stderr, "'%s' is bitcode of a later LLVM (%s) than this one reads, LLVM 19\n", in->name,
                producer);
        exit(2);
    }
    if (LLVMParseBitcodeInContext2(ctx, buffer, &m))
        fail(in->name, "not bitcode of LLVM 19");
    LLVMDisposeMemoryBuffer(buffer);
    return m;
}

static LLVMModuleRef read_program(LLVMContextRef ctx, const struct input *in, size_t n)
{
    struct step step = {in[0].name, false};
    LLVMContextSetDiagnosticHandler(ctx, on_diagnostic, &step);
    LLVMModuleRef all = read_module(ctx, &in[0]);
    for (size_t i = 1; i < n; i++) {
        step = (struct step){in[i].name, false};
        LLVMModuleRef next = read_module(ctx, &in[i]);
        step.linking = true;
        if (LLVMLinkModules2(all, next))
            fail(in[i].name, "cannot be linked with the files before it");
    }
    LLVMContextSetDiagnosticHandler(ctx, NULL, NULL);
    return all;
}

static size_t read_inputs(char **argv, int first, int argc, struct input *ret)
{
    static const char as[] = "--as=";
    size_t n = 0;
    const char *name = NULL;
    for (int i = first; i < argc; i++)
        if (strncmp(argv[i], as, sizeof(as) - 1) == 0) {
            name = argv[i] + sizeof(as) - 1;
        } else {
            ret[n++] = (struct input){argv[i], name != NULL ? name : argv[i]};
            name = NULL;
        }
    return n;
}

int main(int argc, char **argv)
{
    int progress = -1, first = 1;
    struct dh_whole_options o = {.progress_arg = &progress};
    if (first < argc && sscanf(argv[first], "--progress=%d", &progress) == 1) {
        o.progress = on_progress;
        on_progress(&progress, "linking");
        first++;
    }
    struct input *in = calloc((size_t)argc + 1, sizeof(*in));
    if (in == NULL)
        fail("memory", strerror(errno));
    size_t n = read_inputs(argv, first, argc, in);
    if (n == 0 || in[0].path[0] == '-')
        fail("usage", "deadheat-ir [--progress=FD] [--as=NAME] FILE.bc...");
    o.program = in[0].name;
    LLVMContextRef ctx = LLVMContextCreate();
    catch_crashes(on_crash);
    LLVMModuleRef m = read_program(ctx, in, n);
    catch_crashes(SIG_DFL);
    if (!dh_whole_lift(m))
        fail(o.program, "LLVM cannot lift its variables into registers");
    struct dh_pairs *pairs;
    int err = dh_whole_analyse(m, &o, &pairs);
    if (err != 0)
        fail(o.program, err == -EINVAL ? "not a program for x86-64" : strerror(-err));
    err = dh_pairs_write_file(pairs, STDOUT_FILENO);
    if (err != 0)
        fail("standard output", strerror(-err));
    dh_pairs_free(pairs);
    LLVMDisposeModule(m);
    LLVMContextDispose(ctx);
    free(in);
    return 0;
}
