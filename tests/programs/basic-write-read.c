// A write, then an unordered read.
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
    use(x); // RACE a:read
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
