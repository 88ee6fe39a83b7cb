// A pool allocator that hands memory from thread to thread: told so by two lines, deadheat finds nothing.
// TSAN: it does not know the interface
// NO RACE
#define POOL_TELLS 1
#include "parts/lard-pool.h"

#include "invisible.h"

THREAD(first)
{
    long *p = pool_alloc();
    p[1] = 1;
    pool_free(p);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    long *p = pool_alloc();
    p[1] = 2;
    pool_free(p);
    return NULL;
}

int main(void)
{
    pool_init();
    both(first, second);
    return 0;
}
