// A loop that may run to the end but leaves early: nothing may be checked that is not reached.
// NO RACE
// FLAGS: -O2
#include "invisible.h"

int keys[200];

THREAD(searcher)
{
    int i;

    for (i = 0; i < 200; i++)
        if (keys[i] == 50)
            break;
    MUST(i == 50);
    mark();
    return NULL;
}

THREAD(writer)
{
    after(1);
    for (int i = 51; i < 200; i++)
        keys[i] = -1;
    return NULL;
}

int main(void)
{
    for (int i = 0; i < 200; i++)
        keys[i] = i;
    both(searcher, writer);
    return 0;
}
