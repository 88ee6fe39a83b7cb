// Memory on which races are said to be benign raises none; what lies beside it does.
// OPTIONS: on_race=exception
#include <stdatomic.h>
#include <string.h>

#include <deadheat/annotations.h>
#include <deadheat/race.h>

#include "invisible.h"

int counter, real;
char half[64];
static int *block;
static int raised;

static enum dh_race_action on_race(const struct dh_race_record *race, void *arg)
{
    (void)arg;
    MUST(race->second.address == (uintptr_t)&real || race->second.address == (uintptr_t)&half[40]);
    raised++;
    return DH_RACE_CONTINUE;
}

THREAD(first)
{
    counter = 1;
    real = 1;            // RACE a:write
    memset(half, 1, 64); // RACE b:write
    *block = 1;
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    counter++;
    real = 2; // RACE a:write
    memcpy(half, "copied", 6);
    half[40] = 2; // RACE b:write
    free(block);
    return NULL;
}

int main(void)
{
    block = malloc(sizeof(*block));
    dh_on_race(on_race, NULL);
    ANNOTATE_BENIGN_RACE_SIZED(&counter, sizeof(counter), "a statistic");
    ANNOTATE_BENIGN_RACE_SIZED(half, 32, "the first half");
    ANNOTATE_BENIGN_RACE_SIZED(block, sizeof(*block), "given up");
    both(first, second);
    MUST(raised == 2);
    return 0;
}
