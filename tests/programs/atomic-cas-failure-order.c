// A failed compare-exchange is a load with its failure order: relaxed acquires nothing.
#include <stdatomic.h>

#include "invisible.h"

atomic_int flag;
int good, bad;

THREAD(producer)
{
    good = 1;
    bad = 1; // RACE a:write
    atomic_store_explicit(&flag, 1, memory_order_release);
    mark();
    return NULL;
}

THREAD(careless)
{
    int expected = 0;

    after(1);
    MUST(!atomic_compare_exchange_strong_explicit(&flag, &expected, 9, memory_order_acq_rel,
                                                  memory_order_relaxed));
    use(bad); // RACE a:read
    mark();
    return NULL;
}

THREAD(careful)
{
    int expected = 0;

    after(2);
    MUST(!atomic_compare_exchange_strong_explicit(&flag, &expected, 9, memory_order_relaxed,
                                                  memory_order_acquire));
    MUST(good == 1);
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(producer, NULL), b = spawn(careless, NULL), c = spawn(careful, NULL);

    join(a);
    join(b);
    join(c);
    return 0;
}
