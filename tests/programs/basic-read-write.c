// A read, then an unordered write.
#include "invisible.h"

int x;

THREAD(first)
{
    use(x); // RACE a:read
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
