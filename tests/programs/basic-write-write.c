// Two threads write one variable; nothing orders them.
#include "invisible.h"

int x;

THREAD(first)
{
    x = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    x = 2; // RACE a:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
