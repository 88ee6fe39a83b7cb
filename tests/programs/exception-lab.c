// The detectors of the laboratory raise too, in front of the access.
// OPTIONS: on_race=exception:detector=djit
#include <setjmp.h>

#include <deadheat/race.h>

#include "invisible.h"

int x;
static int raised;
static jmp_buf back;

static enum dh_race_action on_race(const struct dh_race_record *race, void *arg)
{
    (void)arg;
    MUST(race->second.address == (uintptr_t)&x && race->second.kind == DH_RACE_WRITE);
    raised++;
    longjmp(back, 1);
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
    if (setjmp(back) == 0) {
        x = 2; // RACE a:write
        abort();
    }
    return NULL;
}

int main(void)
{
    dh_on_race(on_race, NULL);
    both(first, second);
    MUST(raised == 1 && x == 1);
    return 0;
}
