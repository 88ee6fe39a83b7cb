// Going on: every race is raised, also those a report only counts, and accesses put off are recorded.
// OPTIONS: on_race=exception
#include <deadheat/race.h>

#include "invisible.h"

enum { N = 5 };
int x[N], y;
static _Atomic int raised;

static enum dh_race_action on_race(const struct dh_race_record *race, void *arg)
{
    (void)arg;
    MUST(!race->late);
    raised++;
    return DH_RACE_CONTINUE;
}

THREAD(first)
{
    for (int i = 0; i < N; i++) {
        x[i] = 1; // RACE a:write
        use(0);
    }
    mark();
    after(2);
    use(y); // RACE b:read
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    for (int i = 0; i < N; i++) {
        x[i] = 2; // RACE a:write
        use(0);
    }
    y = 1; // RACE b:write
    mark();
    after(3);
    return NULL;
}

int main(void)
{
    dh_on_race(on_race, NULL);
    both(first, second);
    for (int i = 0; i < N; i++)
        MUST(x[i] == 2);
    MUST(raised == N + 1);
    return 0;
}
