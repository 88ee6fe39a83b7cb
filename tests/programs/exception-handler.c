// The handler sees both accesses as they are, on the thread of the second, which has not been made.
// FLAGS: -D_GNU_SOURCE
// OPTIONS: on_race=exception
// OUTPUT: 1 race
#include <stdio.h>
#include <string.h>

#include <deadheat/deadheat.h>
#include <deadheat/race.h>

#include "invisible.h"

long x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int races;
static pthread_t second_thread;

/* Else the handler's own look at x would be a race too. */
DH_UNTRACKED static long peek(void)
{
    return x;
}

static enum dh_race_action on_race(const struct dh_race_record *race, void *arg)
{
    MUST(arg == &m && race->record_size == sizeof(*race) && race->number == 1 && !race->late);
    MUST(race->second.kind == DH_RACE_WRITE && race->first.kind == DH_RACE_WRITE);
    MUST(race->second.address == (uintptr_t)&x && race->second.size == 8);
    MUST(race->first.address == (uintptr_t)&x && race->first.size == 8);
    MUST(!race->first.atomic && !race->second.atomic);
    MUST(race->first.held == 0 && race->second.held == 1);
    MUST(race->second.locks[0].address == (uintptr_t)&m && !race->second.locks[0].shared);
    MUST(strcmp(race->first.thread_name, "one") == 0 && strcmp(race->second.thread_name, "other") == 0);
    MUST(race->first.thread == 2 && race->second.thread == 3 && race->first.tid != race->second.tid);
    MUST(race->first.depth >= 1 && race->second.depth >= 1 && race->first.stack[0] != race->second.stack[0]);
    MUST(pthread_equal(pthread_self(), second_thread) && peek() == 1);
    MUST(dh_race_current() == race);
    races++;
    return DH_RACE_CONTINUE;
}

THREAD(first)
{
    pthread_setname_np(pthread_self(), "one");
    x = 1; // RACE a:write
    mark();
    after(2);
    return NULL;
}

THREAD(second)
{
    pthread_setname_np(pthread_self(), "other");
    second_thread = pthread_self();
    after(1);
    pthread_mutex_lock(&m);
    x = 2; // RACE a:write
    pthread_mutex_unlock(&m);
    mark();
    return NULL;
}

int main(void)
{
    MUST(dh_on_race(on_race, &m) == NULL);
    pthread_t a = spawn(first, NULL), b = spawn(second, NULL);
    join(a);
    join(b);
    MUST(x == 2 && dh_race_current() == NULL);
    MUST(dh_on_race(NULL, NULL) == on_race);
    printf("%d race\n", races);
    return 0;
}
