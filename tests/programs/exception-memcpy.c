// A copy that would read what another thread wrote, and one that would write it: neither is made.
// OPTIONS: on_race=exception
// FLAGS: -D_GNU_SOURCE
#include <setjmp.h>
#include <string.h>

#include <deadheat/race.h>

#include "invisible.h"

char from[300], to[300];
static int raised;
static jmp_buf back;
volatile size_t size = sizeof(from);

static enum dh_race_action on_race(const struct dh_race_record *race, void *arg)
{
    (void)arg;
    MUST(!race->late);
    raised++;
    longjmp(back, 1);
}

THREAD(first)
{
    memset(to, 1, sizeof(to)); // RACE a:write
    from[100] = 1;             // RACE b:write
    mark();
    return NULL;
}

THREAD(second)
{
    static char own[300];
    after(1);
    memset(own, 2, sizeof(own));
    if (setjmp(back) == 0)
        memcpy(to, own, size); // RACE a:write
    if (setjmp(back) == 0)
        memcpy(own, from, size); // RACE b:read
    MUST(own[0] == 2 && own[100] == 2);
    return NULL;
}

int main(void)
{
    dh_on_race(on_race, NULL);
    both(first, second);
    MUST(raised == 2 && to[0] == 1 && to[299] == 1);
    return 0;
}
