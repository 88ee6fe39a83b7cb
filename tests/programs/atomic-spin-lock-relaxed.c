// The same with a relaxed unlock: it works on this machine, and it is a race.
#include <stdatomic.h>

#include "invisible.h"

atomic_flag lock = ATOMIC_FLAG_INIT;
long count;

THREAD(worker)
{
    after(*(int *)arg);
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        ;
    count++; // RACE a
    atomic_flag_clear_explicit(&lock, memory_order_relaxed);
    mark();
    return NULL;
}

int main(void)
{
    int zero = 0, one = 1;
    pthread_t a = spawn(worker, &zero), b = spawn(worker, &one);

    join(a);
    join(b);
    return 0;
}
