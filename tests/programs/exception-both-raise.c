// Two threads are in the handler at once, each at its own race; the handler takes locks and runs into races
// of its own, which are reported and not raised. Nothing waits for anything that does not come.
// OPTIONS: on_race=exception
#include <deadheat/race.h>

#include "invisible.h"

int x, y, shared;
static _Atomic int inside, raised;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static enum dh_race_action on_race(const struct dh_race_record *race, void *arg)
{
    (void)arg;
    MUST(race->second.address == (uintptr_t)&x || race->second.address == (uintptr_t)&y);
    raised++;
    inside++;
    while (inside < 2) /* the other is here too */
        sched_yield();
    pthread_mutex_lock(&m);
    void *p = malloc(100);
    free(p);
    pthread_mutex_unlock(&m);
    mark();
    if (race->second.address == (uintptr_t)&y) {
        after(4);
        shared = 1; // RACE c:write
    } else {
        shared = 2; // RACE c:write
        mark();
    }
    return DH_RACE_CONTINUE;
}

THREAD(first)
{
    x = 1; // RACE a:write
    mark();
    after(2);
    y = 2; // RACE b:write
    return NULL;
}

THREAD(second)
{
    y = 1; // RACE b:write
    mark();
    after(2);
    x = 2; // RACE a:write
    return NULL;
}

int main(void)
{
    dh_on_race(on_race, NULL);
    both(first, second);
    MUST(x == 2 && y == 2 && raised == 2);
    return 0;
}
