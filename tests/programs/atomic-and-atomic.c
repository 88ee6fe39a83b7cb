// Atomic operations never race with each other, whatever their orders and sizes.
// NO RACE
#include <stdatomic.h>
#include <stdbool.h>

#include "invisible.h"

_Atomic char c;
_Atomic short s;
atomic_int i;
atomic_long l;
atomic_bool b;

THREAD(worker)
{
    for (int n = 0; n < 100; n++) {
        int expected = n;

        c++;
        atomic_fetch_or_explicit(&s, 3, memory_order_relaxed);
        atomic_compare_exchange_strong_explicit(&i, &expected, n + 1, memory_order_acq_rel,
                                                memory_order_relaxed);
        atomic_compare_exchange_weak(&i, &expected, n);
        atomic_exchange_explicit(&l, n, memory_order_release);
        atomic_store(&b, true);
        use(atomic_load_explicit(&l, memory_order_relaxed));
    }
    mark();
    after(2);
    return NULL;
}

int main(void)
{
    both(worker, worker);
    MUST(c == (char)200);
    return 0;
}
