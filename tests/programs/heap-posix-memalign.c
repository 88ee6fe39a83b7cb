// posix_memalign writes the pointer it is given.
#include "invisible.h"

void *block;

THREAD(first)
{
    block = NULL; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    MUST(posix_memalign(&block, 64, 40) == 0); // RACE a:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
