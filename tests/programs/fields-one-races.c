// Four members are checked together, and one of them races: in the middle, and of another size than its neighbours. Both
// threads make all four accesses in one go; what one has to itself may not show up.
#include "invisible.h"

struct account {
    long balance;
    int owner;
    short branch;
    char open;
};
struct account mine, theirs, shared;

static void fill(struct account *where, short *branch)
{
    where->balance = 1;
    where->owner = 2;
    *branch = 3; // RACE a:write
    where->open = 4;
}

THREAD(first)
{
    fill(&mine, &shared.branch);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    fill(&theirs, &shared.branch);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
