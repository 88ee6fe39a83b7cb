// A fence on one side, an ordered operation on the other, both ways round; and a seq_cst fence as both kinds.
// NO RACE
// TSAN: it does not handle fences
#include <stdatomic.h>

#include "invisible.h"

atomic_int a, b, c;
int x, y, z;

THREAD(producer)
{
    x = 1;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&a, 1, memory_order_relaxed);
    y = 1;
    atomic_store_explicit(&b, 1, memory_order_release);
    z = 1;
    atomic_thread_fence(memory_order_seq_cst);
    atomic_store_explicit(&c, 1, memory_order_relaxed);
    return NULL;
}

THREAD(consumer)
{
    while (!atomic_load_explicit(&a, memory_order_acquire))
        ;
    x++;
    while (!atomic_load_explicit(&b, memory_order_relaxed))
        ;
    atomic_thread_fence(memory_order_acquire);
    y++;
    while (!atomic_load_explicit(&c, memory_order_relaxed))
        ;
    atomic_thread_fence(memory_order_acq_rel);
    z++;
    return NULL;
}

int main(void)
{
    both(producer, consumer);
    MUST(x + y + z == 6);
    return 0;
}
