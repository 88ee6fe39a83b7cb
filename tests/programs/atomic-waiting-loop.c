// A waiting loop's loads are recorded once; that record is enough to find a plain write, and so is one made
// again after the memory was given out anew in the same epoch.
#include <stdatomic.h>
#include <stdlib.h>

#include "invisible.h"

static atomic_long flag;
static void *again;

THREAD(first)
{
    for (int i = 0; i < 100; i++)
        use(atomic_load_explicit(&flag, memory_order_relaxed)); // RACE a:read
    atomic_long *p = malloc(sizeof(*p));
    for (int i = 0; i < 100; i++)
        atomic_store_explicit(p, i, memory_order_relaxed);
    free(p);
    p = malloc(sizeof(*p)); // as a rule the same block
    for (int i = 0; i < 100; i++)
        atomic_store_explicit(p, i, memory_order_relaxed); // RACE b:write
    hide(&again, p);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    *(long *)&flag = 1; // RACE a:write
    long *p = seek(&again);
    *p = 1; // RACE b:write
    return NULL;
}

int main(void)
{
    both(first, second);
    free(seek(&again));
    return 0;
}
