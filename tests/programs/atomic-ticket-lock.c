// A ticket lock: relaxed ticket, acquire wait, release turn.
// NO RACE
#include <sched.h>
#include <stdatomic.h>

#include "invisible.h"

atomic_uint next, turn;
long count;

THREAD(worker)
{
    for (int i = 0; i < 100; i++) {
        unsigned mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);

        while (atomic_load_explicit(&turn, memory_order_acquire) != mine)
            sched_yield();
        count++;
        atomic_store_explicit(&turn, mine + 1, memory_order_release);
    }
    return NULL;
}

int main(void)
{
    both(worker, worker);
    MUST(count == 200);
    return 0;
}
