// An acquire needs a release: of a relaxed store there is nothing to acquire.
#include <stdatomic.h>

#include "invisible.h"

atomic_int flag;
int data;

THREAD(producer)
{
    data = 42; // RACE a:write
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return NULL;
}

THREAD(consumer)
{
    while (!atomic_load_explicit(&flag, memory_order_acquire))
        ;
    use(data); // RACE a:read
    return NULL;
}

int main(void)
{
    both(producer, consumer);
    return 0;
}
