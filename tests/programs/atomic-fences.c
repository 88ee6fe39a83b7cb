// A release fence before a relaxed store, an acquire fence after the relaxed load: ordered.
// NO RACE
// TSAN: it does not handle fences
#include <stdatomic.h>

#include "invisible.h"

atomic_int flag;
int data;

THREAD(producer)
{
    data = 42;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return NULL;
}

THREAD(consumer)
{
    while (!atomic_load_explicit(&flag, memory_order_relaxed))
        ;
    atomic_thread_fence(memory_order_acquire);
    MUST(data == 42);
    data = 0;
    return NULL;
}

int main(void)
{
    both(producer, consumer);
    return 0;
}
