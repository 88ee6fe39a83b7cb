// The first release of each of many flags, with the acquiring load hard on its heels.
// NO RACE
#include <stdatomic.h>

#include "invisible.h"

enum { FLAGS = 1000 };
atomic_int flags[FLAGS];
int data[FLAGS];

THREAD(producer)
{
    for (int i = 0; i < FLAGS; i++) {
        data[i] = i;
        atomic_store_explicit(&flags[i], 1, memory_order_release);
        while (atomic_load_explicit(&flags[i], memory_order_acquire) != 2)
            ;
        data[i]++;
    }
    return NULL;
}

THREAD(consumer)
{
    for (int i = 0; i < FLAGS; i++) {
        while (!atomic_load_explicit(&flags[i], memory_order_acquire))
            ;
        MUST(data[i] == i);
        data[i]++;
        atomic_store_explicit(&flags[i], 2, memory_order_release);
    }
    return NULL;
}

int main(void)
{
    both(producer, consumer);
    return 0;
}
