// A coroutine, with the pointer on its stack, is begun by one thread and goes on in another, which stores it.
// RULE: call
#define OWN_FRAME
#define NO_PRIVATE
#include <ucontext.h>

#include "escape.h"

static struct node *shared;
static ucontext_t routine, begun, resumed;
static char stack[1 << 16] __attribute__((aligned(16)));

static void body(void)
{
    struct node *n = fresh();

    possibly(n);
    MUST(swapcontext(&routine, &begun) == 0);
    shared = n;
    mark();
    n->value = 2; // ESCAPED
    after(4);
    setcontext(&resumed);
}

THREAD(first)
{
    MUST(getcontext(&routine) == 0);
    routine.uc_stack.ss_sp = stack;
    routine.uc_stack.ss_size = sizeof(stack);
    makecontext(&routine, body, 0);
    MUST(swapcontext(&begun, &routine) == 0);
    mark();
    after(4);
    return NULL;
}

THREAD(second)
{
    after(1);
    MUST(swapcontext(&resumed, &routine) == 0);
    return NULL;
}

THREAD(third)
{
    struct node *n;

    after(2);
    n = perhaps(shared);
    MUST(n->seal == SEAL); // ESCAPED
    n->value = 3;          // ESCAPED
    mark();
    mark();
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(first, NULL), b = spawn(second, NULL), c = spawn(third, NULL);

    join(a);
    join(b);
    join(c);
    return 0;
}
