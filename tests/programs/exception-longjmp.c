// The handler jumps out: the racing write is not made, by none of many tries, and each try is raised.
// OPTIONS: on_race=exception
#include <setjmp.h>

#include <deadheat/race.h>

#include "invisible.h"

enum { TRIES = 20 };
int x, y;
static int raised, beyond;
static jmp_buf back;

static enum dh_race_action on_race(const struct dh_race_record *race, void *arg)
{
    (void)arg;
    raised++;
    if (race->second.address == (uintptr_t)&x)
        longjmp(back, 1);
    return DH_RACE_CONTINUE;
}

THREAD(first)
{
    x = 1; // RACE a:write
    y = 1; // RACE b:write
    mark();
    return NULL;
}

static __attribute__((noinline)) void deeper(int depth)
{
    if (depth > 0)
        deeper(depth - 1);
    else
        x = 2; // RACE a:write
    beyond++;
}

THREAD(second)
{
    after(1);
    for (volatile int i = 0; i < TRIES; i++)
        if (setjmp(back) == 0)
            deeper(i);
    y = 2; // RACE b:write
    return NULL;
}

int main(void)
{
    dh_on_race(on_race, NULL);
    both(first, second);
    MUST(x == 1 && y == 2 && beyond == 0 && raised == TRIES + 1);
    return 0;
}
