// A queue whose producer bumps the head before it fills the slot.
#include <stdatomic.h>

#include "invisible.h"

int slots[4];
atomic_uint head;

THREAD(producer)
{
    atomic_store_explicit(&head, 1, memory_order_release);
    slots[0] = 42; // RACE a:write
    mark();
    return NULL;
}

THREAD(consumer)
{
    while (atomic_load_explicit(&head, memory_order_acquire) == 0)
        ;
    after(1);
    use(slots[0]); // RACE a:read
    return NULL;
}

int main(void)
{
    both(producer, consumer);
    return 0;
}
