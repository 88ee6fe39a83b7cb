// The calling context of an access, after frames were left behind by an exception, by longjmp, by longjmp from a
// handler on a stack of its own, and by a change of context.
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <ucontext.h>

#include "../programs/invisible.h"

#define APART extern "C" __attribute__((noinline))

int variable, after_catch, after_jump, after_handler;
static jmp_buf back;
static sigjmp_buf back_from_handler;

APART void access_it(int *where, int depth)
{
    if (depth > 0)
        access_it(where, depth - 1);
    else
        *where = depth;
    use(depth);
}

APART void throw_it(int depth)
{
    if (depth > 0)
        throw_it(depth - 1);
    else
        throw depth;
    use(depth);
}

APART void jump(int depth)
{
    if (depth > 0)
        jump(depth - 1);
    else
        longjmp(back, 1);
    use(depth);
}

/* A jump that no detector knows for one. Its function's frame is found again when that returns. */
APART void leave(ucontext_t *to, int depth)
{
    if (depth > 0)
        leave(to, depth - 1);
    else
        setcontext(to);
    use(depth);
}

APART void come_back(void)
{
    volatile int times = 0;
    ucontext_t here;

    getcontext(&here);
    if (times++ == 0)
        leave(&here, 3);
    use(6);
}

APART void handler(int)
{
    siglongjmp(back_from_handler, 1);
}

APART void raise_it(void)
{
    raise(SIGUSR1);
    use(1);
}

APART void catch_it(void)
{
    try {
        throw_it(3);
    } catch (int) {
        access_it(&after_catch, 0);
    }
    use(2);
}

APART void land(void)
{
    if (!setjmp(back))
        jump(3);
    access_it(&after_jump, 0);
    use(3);
}

APART void land_from_handler(void)
{
    if (!sigsetjmp(back_from_handler, 1))
        raise_it();
    access_it(&after_handler, 0);
    use(4);
}

APART void *thread_body(void *)
{
    catch_it();
    land();
    land_from_handler();
    come_back();
    access_it(&variable, 2);
    use(5);
    return NULL;
}

int main()
{
    stack_t alternate = {};
    struct sigaction action = {};

    alternate.ss_size = 64 << 10;
    alternate.ss_sp = malloc(alternate.ss_size);
    sigaltstack(&alternate, NULL);
    action.sa_handler = handler;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    pthread_t t = spawn(thread_body, NULL);
    thread_body(NULL);
    join(t);
    return 0;
}
