// DH_UNTRACKED: what the function does is not looked at.
// TSAN: it does not know the attribute
// NO RACE
#include <deadheat/deadheat.h>

#include "invisible.h"

int statistics;

DH_UNTRACKED static void count(void)
{
    statistics++;
}

THREAD(worker)
{
    count();
    mark();
    after(2);
    return NULL;
}

int main(void)
{
    both(worker, worker);
    return 0;
}
