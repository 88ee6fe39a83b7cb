// Who installs a handler has prepared what it needs: it cannot run before, on whichever thread it does. The
// handler that takes its place comes after the change too.
// NO RACE
// TSAN: it does not order sigaction before the handler
// FLAGS: -D_GNU_SOURCE
#include <signal.h>

#include "invisible.h"

static int prepared, again;
static _Thread_local int seen;

static void first_handler(int sig)
{
    (void)sig;
    seen += prepared;
}

static void second_handler(int sig, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    MUST(sig == SIGUSR1);
    seen += again;
}

THREAD(target)
{
    after(1);
    raise(SIGUSR1);
    raise(SIGUSR2);
    MUST(seen == 2);
    mark();
    after(3);
    raise(SIGUSR1);
    MUST(seen == 12);
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_handler = first_handler};
    pthread_t t = spawn(target, NULL);

    prepared = 1;
    MUST(sigaction(SIGUSR1, &action, NULL) == 0);
    MUST(signal(SIGUSR2, first_handler) == SIG_DFL);
    mark();
    after(2);
    again = 10;
    action = (struct sigaction){.sa_sigaction = second_handler, .sa_flags = SA_SIGINFO};
    MUST(sigaction(SIGUSR1, &action, NULL) == 0);
    mark();
    join(t);
    return 0;
}
