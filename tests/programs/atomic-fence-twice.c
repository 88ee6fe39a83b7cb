// Two release fences in a row: the second has nothing to add, and what follows it is still to come.
// TSAN: it does not follow fences
#include <stdatomic.h>

#include "invisible.h"

atomic_int flag;
int x, y;

THREAD(first)
{
    y = 1;
    atomic_thread_fence(memory_order_release);
    use(0); /* or the compiler makes one of the two */
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    x = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    MUST(atomic_load_explicit(&flag, memory_order_acquire) == 1);
    y = 2;
    x = 2; // RACE a:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
