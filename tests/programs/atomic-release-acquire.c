// Release and acquire do.
// NO RACE
#include <stdatomic.h>

#include "invisible.h"

atomic_int flag;
int data;

THREAD(producer)
{
    data = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
    return NULL;
}

THREAD(consumer)
{
    while (!atomic_load_explicit(&flag, memory_order_acquire))
        ;
    MUST(data == 42);
    data = 0;
    return NULL;
}

int main(void)
{
    both(producer, consumer);
    return 0;
}
