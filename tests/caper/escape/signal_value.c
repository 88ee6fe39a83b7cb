// The value of a signal that is sent to the other thread.
// RULE: call
#define OWN_FRAME
#include <signal.h>

#include "escape.h"

static pthread_t target;

static void handler(int signo, siginfo_t *info, void *context)
{
    struct node *n = (struct node *)info->si_value.sival_ptr;

    (void)signo;
    (void)context;
    MUST(n->seal == SEAL); // ESCAPED
    n->value = 3;          // ESCAPED
    mark();
}

THREAD(owner)
{
    struct node *n = fresh();
    union sigval value = {.sival_ptr = n};

    MUST(pthread_sigqueue(target, SIGUSR1, value) == 0);
    n->value = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    after(1);
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    pthread_t t;

    sigaction(SIGUSR1, &action, NULL);
    target = spawn(other, NULL);
    t = spawn(owner, NULL);
    join(t);
    join(target);
    return 0;
}
