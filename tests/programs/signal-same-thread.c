// A handler that runs on the thread it interrupts is that thread: no race with itself.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <signal.h>

#include "invisible.h"

int count;
volatile sig_atomic_t seen;

static void handler(int signal)
{
    (void)signal;
    count++;
    seen = 1;
}

THREAD(worker)
{
    for (int i = 0; i < 50; i++) {
        count++;
        raise(SIGUSR1);
        count++;
    }
    MUST(seen == 1);
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler};

    MUST(sigaction(SIGUSR1, &action, NULL) == 0);
    join(spawn(worker, NULL));
    MUST(count == 150);
    return 0;
}
