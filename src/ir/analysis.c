/*
 * analysis.c - the analysis of the whole program, in a child of the linker.
 *
 * The child's copy of the module may be changed: unoptimised code is lifted, and functions are
 * added. If the child fails, because it runs out of memory or time or because of a bug, the link continues
 * without its result: no build may depend on it. On a terminal the current phase is shown, since a large
 * program takes seconds.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/ir.h"
#include "ir/whole/whole.h"
#include "report/pairs.h"

/* How the child ends. */
enum { DONE, NOT_OURS, NOT_WRITTEN };

/* Processor time; redis, the largest program measured, takes half a minute. */
enum { LIMIT_SECONDS = 600 };

static void show_phase(void *arg, const char *phase)
{
    const char *program = arg;
    fprintf(stderr, "\r\033[Kdeadheat: %s%s%s", program, program[0] ? ": " : "", phase);
}

/* In the child: the table into the file. */
static _Noreturn void analyse_into(LLVMModuleRef m, const struct dh_whole_options *options,
                                   void (*prepare)(LLVMModuleRef m), int file)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE, SIGXCPU};
    const struct rlimit limit = {LIMIT_SECONDS, LIMIT_SECONDS + 5};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CPU, &limit);
    for (size_t i = 0; i < DH_ARRAY_LEN(crashes); i++)
        signal(crashes[i], SIG_DFL); /* the linker's handlers would print pages */
    struct dh_pairs *pairs;
    if (prepare)
        prepare(m);
    if (dh_whole_needs_lift(m))
        dh_whole_lift(m); /* if it cannot be, the analysis only finds more */
    int rc = dh_whole_analyse(m, options, &pairs);
    if (rc != 0)
        _exit(rc == -EINVAL ? NOT_OURS : NOT_WRITTEN);
    bool written =
        dh_pairs_write_file(pairs, file) == 0 && fflush(NULL) == 0; /* files of who was told, too */
    _exit(written ? DONE : NOT_WRITTEN);
}

/* Why there is no result, from the status that waitpid gave; negative: there was no child. */
static void explain(int status, char *ret_why, size_t room)
{
    int code = status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : NOT_WRITTEN;
    if (status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        snprintf(ret_why, room, "the analysis took more than %d seconds", LIMIT_SECONDS);
    else if (status >= 0 && WIFSIGNALED(status))
        snprintf(ret_why, room, "the analysis ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(ret_why, room, "%s",
                 code == NOT_OURS ? "the program is not one for 64-bit x86" : "the analysis failed");
}

const char *dh_ir_analysis_program(void)
{
    const char *program = getenv("DEADHEAT_LINK_OUTPUT");
    return program ? program : "";
}

bool dh_ir_analysis_run(LLVMModuleRef m, const struct dh_whole_options *given,
                        void (*prepare)(LLVMModuleRef m), struct dh_ir_analysis *ret)
{
    const char *program = dh_ir_analysis_program();
    bool terminal = isatty(STDERR_FILENO);
    struct dh_whole_options options = *given;
    options.program = program;
    options.progress = terminal ? show_phase : NULL;
    options.progress_arg = (void *)program;
    *ret = (struct dh_ir_analysis){.bytes = NULL};
    int status = -1, file = memfd_create("deadheat-pairs", MFD_CLOEXEC);
    struct stat st;
    fflush(NULL);
    pid_t pid = file < 0 ? -1 : fork();
    if (pid == 0)
        analyse_into(m, &options, prepare, file);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (terminal)
        fputs("\r\033[K", stderr);
    if (status == 0 && fstat(file, &st) == 0) {
        void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        ret->bytes = bytes == MAP_FAILED ? NULL : bytes;
        ret->n = (size_t)st.st_size;
    }
    if (file >= 0)
        close(file);
    if (!ret->bytes)
        explain(status, ret->why, sizeof(ret->why));
    return ret->bytes != NULL;
}

void dh_ir_analysis_done(struct dh_ir_analysis *a)
{
    if (a->bytes)
        munmap((void *)a->bytes, a->n);
    *a = (struct dh_ir_analysis){.bytes = NULL};
}
