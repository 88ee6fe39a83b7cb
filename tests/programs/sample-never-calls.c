// A thread that finds nothing but empty cells never enters the runtime. It must take part in a period all the same.
// OPTIONS: sample=0%
// TSAN: it does not sample
#include <stdbool.h>

#include "invisible.h"

extern void dh_period_turn(bool on);

int before[64], x;

THREAD(first)
{
    for (int i = 0; i < 64; i++)
        ((volatile int *)before)[i] = i;
    mark();
    after(2);
    x = 1; // RACE a:write
    mark();
    after(4);
    x = 3; // RACE b:write
    return NULL;
}

THREAD(second)
{
    after(1);
    dh_period_turn(true);
    mark();
    after(3);
    x = 2; // RACE a:write b:write
    dh_period_turn(false);
    mark();
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
