/* A program with stacks of its own: what runs on them are no threads that the analysis could see. */
#include <ucontext.h>

#include "invisible.h"

static ucontext_t here, there;
static char stack[64 * 1024];
static int turns;

static void visit(void)
{
    turns++;
}

int main(void)
{
    MUST(getcontext(&there) == 0);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &here;
    makecontext(&there, visit, 0);
    MUST(swapcontext(&here, &there) == 0);
    MUST(turns == 1);
    return 0;
}
