// The first release of each of many flags, with the acquiring load hard on its heels.
// NO RACE
#include <sched.h>
#include <stdatomic.h>

#include "invisible.h"

enum { FLAGS = 500, PATIENCE = 1000 };
atomic_int flags[FLAGS];
int data[FLAGS];

static void await(atomic_int *flag, int value)
{
    for (int i = 0; atomic_load_explicit(flag, memory_order_acquire) != value; i++)
        if (i >= PATIENCE) /* the machine is busy, and the other thread may not be running */
            sched_yield();
}

THREAD(producer)
{
    for (int i = 0; i < FLAGS; i++) {
        data[i] = i;
        atomic_store_explicit(&flags[i], 1, memory_order_release);
        await(&flags[i], 2);
        data[i]++;
    }
    return NULL;
}

THREAD(consumer)
{
    for (int i = 0; i < FLAGS; i++) {
        await(&flags[i], 1);
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
