// exit() called by a thread other than main, with a race found before: the status says so.
#include "invisible.h"

int x;

THREAD(first)
{
    x = 1; // RACE a:write
    mark();
    for (;;)
        after(1);
    return NULL;
}

THREAD(second)
{
    after(1);
    x = 2; // RACE a:write
    exit(3);
}

int main(void)
{
    both(first, second);
    return 0;
}
