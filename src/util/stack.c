/*
 * stack.c - see stack.h.
 *
 * Libraries that read debug information need more than 100 KB, and a chase holds its request and the
 * program's sites in frames. The limit cannot be raised by whoever set it for good (`ulimit -s` sets both
 * limits), but governs only the stack that the kernel made.
 */
#include "util/stack.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

enum { ENOUGH = 8 << 20, GUARD = 4096 }; /* ENOUGH is the usual limit */

static struct {
    int (*fn)(int argc, char **argv);
    int argc;
    char **argv;
    int result;
    ucontext_t here, there;
} call;

static void enter(void)
{
    call.result = call.fn(call.argc, call.argv);
}

static void enlarge_stacks_of_threads(void)
{
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return;
    if (pthread_attr_setstacksize(&attr, ENOUGH) == 0)
        pthread_setattr_default_np(&attr);
    pthread_attr_destroy(&attr);
}

int dh_stack_call(int (*fn)(int argc, char **argv), int argc, char **argv)
{
    struct rlimit lim;
    if (getrlimit(RLIMIT_STACK, &lim) != 0 || lim.rlim_cur >= ENOUGH)
        return fn(argc, argv);
    char *stack = mmap(NULL, GUARD + ENOUGH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, GUARD, PROT_NONE) != 0 || getcontext(&call.there) != 0)
        return fn(argc, argv);
    enlarge_stacks_of_threads();
    call.fn = fn;
    call.argc = argc;
    call.argv = argv;
    call.there.uc_stack = (stack_t){.ss_sp = stack + GUARD, .ss_size = ENOUGH};
    call.there.uc_link = &call.here;
    makecontext(&call.there, enter, 0);
    return swapcontext(&call.here, &call.there) == 0 ? call.result : fn(argc, argv);
}
