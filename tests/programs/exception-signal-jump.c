// A signal of the program's choice, from whose handler it jumps: the write is not made.
// OPTIONS: on_race=exception:race_action=signal:race_signal=10
// FLAGS: -D_GNU_SOURCE
#include <setjmp.h>
#include <signal.h>

#include "invisible.h"

int x;
static int raised;
static sigjmp_buf back;

static void on_signal(int sig)
{
    MUST(sig == SIGUSR1);
    raised++;
    siglongjmp(back, 1);
}

THREAD(first)
{
    x = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    for (volatile int i = 0; i < 3; i++)
        if (sigsetjmp(back, 1) == 0) {
            x = 2; // RACE a:write
            abort();
        }
    return NULL;
}

int main(void)
{
    signal(SIGUSR1, on_signal);
    both(first, second);
    MUST(raised == 3 && x == 1);
    return 0;
}
