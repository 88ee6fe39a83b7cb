// A spin lock made of atomic_flag.
// NO RACE
#include <sched.h>
#include <stdatomic.h>

#include "invisible.h"

atomic_flag lock = ATOMIC_FLAG_INIT;
long count;

THREAD(worker)
{
    for (int i = 0; i < 200; i++) {
        while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
            sched_yield();
        count++;
        atomic_flag_clear_explicit(&lock, memory_order_release);
    }
    return NULL;
}

int main(void)
{
    both(worker, worker);
    MUST(count == 400);
    return 0;
}
