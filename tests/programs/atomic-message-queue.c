// A bounded queue for one producer and one consumer; the messages are passed by value and by pointer.
// NO RACE
#include <sched.h>
#include <stdatomic.h>

#include "invisible.h"

enum { SLOTS = 8, MESSAGES = 300 };

int *slots[SLOTS];
atomic_uint head, tail;

THREAD(producer)
{
    for (unsigned i = 0; i < MESSAGES; i++) {
        int *message = malloc(sizeof(int));

        *message = (int)i;
        while (i - atomic_load_explicit(&tail, memory_order_acquire) >= SLOTS)
            sched_yield();
        slots[i % SLOTS] = message;
        atomic_store_explicit(&head, i + 1, memory_order_release);
    }
    return NULL;
}

THREAD(consumer)
{
    for (unsigned i = 0; i < MESSAGES; i++) {
        int *message;

        while (atomic_load_explicit(&head, memory_order_acquire) == i)
            sched_yield();
        message = slots[i % SLOTS];
        atomic_store_explicit(&tail, i + 1, memory_order_release);
        MUST(*message == (int)i);
        *message = -1;
        free(message);
    }
    return NULL;
}

int main(void)
{
    both(producer, consumer);
    return 0;
}
