// A pool allocator that hands memory from thread to thread: without the two lines that say so
// TSAN: it does not know the interface
// It is a false alarm, and the reason for lard-pool.c.
#define POOL_TELLS 0
#include "parts/lard-pool.h"

#include "invisible.h"

THREAD(first)
{
    long *p = pool_alloc();
    p[1] = 1; // RACE a
    pool_free(p);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    long *p = pool_alloc();
    p[1] = 2; // RACE a
    pool_free(p);
    return NULL;
}

int main(void)
{
    pool_init();
    both(first, second);
    return 0;
}
