// Thousands of epochs with atomic accesses only, then plain ones in two epochs: the second is told from the first.
#include "invisible.h"

#include <stdatomic.h>

int early, late;
atomic_int turn, flag;

THREAD(first)
{
    early = 1;
    for (int i = 1; i <= 5000; i++)
        atomic_store_explicit(&turn, i, memory_order_release);
    late = 1;
    atomic_store_explicit(&flag, 1, memory_order_release);
    late = 2; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    atomic_load_explicit(&flag, memory_order_acquire);
    early = 2;
    use(late); // RACE a:read
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
