// Raised as a signal: the handler knows the address and the race, and the write is made when it returns.
// FLAGS: -D_GNU_SOURCE
// OPTIONS: on_race=exception:race_action=signal
#include <errno.h>
#include <signal.h>

#include <deadheat/deadheat.h>
#include <deadheat/race.h>

#include "invisible.h"

int x, y;
static int raised;

DH_UNTRACKED static int peek(void)
{
    return y;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
    (void)context;
    MUST(sig == SIGTRAP && info->si_addr == &y && info->si_code == TRAP_HWBKPT);
    MUST(dh_race_current() && dh_race_current()->second.address == (uintptr_t)&y && peek() == 1);
    raised++;
    errno = EDOM;
}

THREAD(first)
{
    x = 1;
    y = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    errno = ERANGE;
    y = 2; // RACE a:write
    MUST(errno == ERANGE);
    return NULL;
}

int main(void)
{
    struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    MUST(sigaction(SIGTRAP, &act, NULL) == 0);
    both(first, second);
    MUST(raised == 1 && y == 2 && dh_race_current() == NULL);
    return 0;
}
