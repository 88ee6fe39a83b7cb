// Thousands of epochs between two plain accesses of one thread: the second is not taken for as old as the first.
#include "invisible.h"

#include <stdatomic.h>

int early, late;
atomic_int turn;

THREAD(first)
{
    early = 1;
    for (int i = 1; i <= 5000; i++)
        atomic_store_explicit(&turn, i, memory_order_release);
    late = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    atomic_load_explicit(&turn, memory_order_acquire);
    early = 2;
    late = 2; // RACE a:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
