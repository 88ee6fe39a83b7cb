// The stack of signal handlers is a private block: their local variables are in it.
// RULE: contents
#define OWN_FRAME
#define NO_PRIVATE
#include <signal.h>

#include "escape.h"

static struct node *shared;

static void handler(int number)
{
    struct node local = {.seal = SEAL};

    (void)number;
    shared = &local;
    mark();
    local.value = 2; // ESCAPED
    after(2);
}

THREAD(owner)
{
    stack_t *stack = (stack_t *)calloc(1, sizeof(*stack));
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

    stack->ss_sp = malloc(1 << 16);
    stack->ss_size = 1 << 16;
    MUST(sigaltstack(stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    raise(SIGUSR1);
    return NULL;
}

THREAD(other)
{
    after(1);
    MUST(shared->seal == SEAL);
    shared->value = 3; // ESCAPED
    mark();
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
