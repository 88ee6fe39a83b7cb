/*
 * embed.c - what a link with `deadheat cc --dh-mode=field` does to the merged module: analyses it and puts
 * the table of sites and pairs into it, as the section .deadheat.pairs of the program.
 *
 * The section is loaded with the program's read-only data, so that strip leaves it alone; no code touches it,
 * so it costs no memory. The driver tells the name of the program by DEADHEAT_LINK_OUTPUT: inside the linker
 * nothing else knows it. On a terminal the phases are shown while they last, since a large program takes
 * seconds.
 *
 * The analysis runs in a child, whose copy of the module it may change. If it fails, out of memory or by a
 * mistake of ours, the program is linked all the same, with a warning: nobody's build may depend on it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/ir.h"
#include "ir/whole/whole.h"
#include "report/pairs.h"

static void show_phase(void *arg, const char *phase)
{
    const char *program = arg;
    fprintf(stderr, "\r\033[Kdeadheat: %s%s%s", program, program[0] ? ": " : "", phase);
}

static void embed(LLVMModuleRef m, const u8 *bytes, size_t n)
{
    LLVMContextRef ctx = LLVMGetModuleContext(m);
    LLVMValueRef text = LLVMConstStringInContext2(ctx, (const char *)bytes, n, true);
    LLVMValueRef table = LLVMAddGlobal(m, LLVMTypeOf(text), "__dh_pairs");
    LLVMSetInitializer(table, text);
    LLVMSetGlobalConstant(table, true);
    LLVMSetLinkage(table, LLVMPrivateLinkage);
    LLVMSetAlignment(table, 8);
    LLVMSetSection(table, DH_PAIRS_SECTION);
    dh_shim_keep(m, table);
}

/* How the child ends. */
enum { DONE, NOT_OURS, NOT_WRITTEN };

/* In the child: the table into the file. */
static _Noreturn void analyse_into(LLVMModuleRef m, const struct dh_whole_options *options, int file)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (size_t i = 0; i < DH_ARRAY_LEN(crashes); i++)
        signal(crashes[i], SIG_DFL); /* the linker's handlers would print pages */
    struct dh_pairs *pairs;
    if (dh_whole_needs_lift(m))
        dh_whole_lift(m); /* if it cannot be, the analysis only finds more */
    int rc = dh_whole_analyse(m, options, &pairs);
    if (rc != 0)
        _exit(rc == -EINVAL ? NOT_OURS : NOT_WRITTEN);
    u8 *bytes;
    size_t n;
    dh_pairs_write(pairs, &bytes, &n);
    for (size_t done = 0; done < n;) {
        ssize_t k = write(file, bytes + done, n - done);
        if (k < 0 && errno != EINTR)
            _exit(NOT_WRITTEN);
        done += k > 0 ? (size_t)k : 0;
    }
    _exit(DONE);
}

/* The status of the child, as waitpid gives it, or negative. */
static int run_child(LLVMModuleRef m, const struct dh_whole_options *options, int file)
{
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        analyse_into(m, options, file);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static void say_failure(LLVMModuleRef m, int status)
{
    char sentence[160];
    int code = status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : NOT_WRITTEN;
    if (status >= 0 && WIFSIGNALED(status))
        snprintf(sentence, sizeof(sentence),
                 "deadheat: the analysis ended by signal %d (%s), so the program carries no table of pairs",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(sentence, sizeof(sentence), "deadheat: %s, so the program carries no table of pairs",
                 code == NOT_OURS ? "the program is not one for 64-bit x86" : "the analysis failed");
    dh_shim_warn(m, sentence);
}

void dh_ir_analyse_program(LLVMModuleRef m)
{
    const char *program = getenv("DEADHEAT_LINK_OUTPUT");
    bool terminal = isatty(STDERR_FILENO);
    struct dh_whole_options options = {
        .program = program ? program : "",
        .progress = terminal ? show_phase : NULL,
        .progress_arg = (void *)(program ? program : ""),
    };
    struct stat st;
    void *bytes = MAP_FAILED;
    int file = memfd_create("deadheat-pairs", MFD_CLOEXEC);
    int status = file < 0 ? -1 : run_child(m, &options, file);
    if (terminal)
        fputs("\r\033[K", stderr);
    if (status == 0 && fstat(file, &st) == 0)
        bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED) {
        say_failure(m, status);
    } else {
        embed(m, bytes, (size_t)st.st_size);
        munmap(bytes, (size_t)st.st_size);
    }
    if (file >= 0)
        close(file);
}
