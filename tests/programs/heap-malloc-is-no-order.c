// The allocator's own locks are its own business: allocating on both sides orders nothing.
#include <malloc.h>

#include "invisible.h"

int x;

THREAD(first)
{
    void *volatile p;

    x = 1; // RACE a:write
    p = malloc(5000);
    free(p);
    mark();
    return NULL;
}

THREAD(second)
{
    void *volatile p;

    after(1);
    p = malloc(5000);
    use(x); // RACE a:read
    free(p);
    return NULL;
}

int main(void)
{
    mallopt(M_ARENA_MAX, 1);
    both(first, second);
    return 0;
}
