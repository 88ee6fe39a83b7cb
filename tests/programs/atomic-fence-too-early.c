// A fence covers what came before it, not what comes between it and the store.
// TSAN: it does not handle fences
#include <stdatomic.h>

#include "invisible.h"

atomic_int flag;
int early, late;

THREAD(producer)
{
    early = 1;
    atomic_thread_fence(memory_order_release);
    late = 1; // RACE a:write
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return NULL;
}

THREAD(consumer)
{
    while (!atomic_load_explicit(&flag, memory_order_acquire))
        ;
    MUST(early == 1);
    use(late); // RACE a:read
    return NULL;
}

int main(void)
{
    both(producer, consumer);
    return 0;
}
