// The oldest trick: a handler writes a byte into a pipe, and whoever waits at its other end may use what the
// interrupted thread had done, and what the handler did.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "invisible.h"

static int ends[2];
int before, in_handler;

static void handler(int sig)
{
    int kept = errno;

    in_handler = sig;
    MUST(write(ends[1], "!", 1) == 1);
    errno = kept;
}

THREAD(interrupted)
{
    before = 1;
    raise(SIGUSR1);
    mark();
    return NULL;
}

THREAD(waits)
{
    struct pollfd p = {.fd = ends[0], .events = POLLIN};
    char c;

    after(1);
    MUST(poll(&p, 1, -1) == 1 && read(ends[0], &c, 1) == 1);
    MUST(before == 1 && in_handler == SIGUSR1);
    before = in_handler = 0;
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

    MUST(pipe(ends) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    both(interrupted, waits);
    return 0;
}
