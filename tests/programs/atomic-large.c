// Atomics too large for the processor: operations on them are calls of libatomic, which locks behind our
// back. They are atomic and they order like any other.
// NO RACE
// FLAGS: -Wno-atomic-alignment -Wl,--no-as-needed -latomic
#include <stdatomic.h>

#include "invisible.h"

struct large {
    long part[5];
};
static _Atomic struct large box;
static int data, back;

THREAD(first)
{
    struct large l = {{1, 2, 3, 4, 5}};

    data = 1;
    atomic_store_explicit(&box, l, memory_order_release);
    mark();
    for (int i = 0; i < 50; i++)
        l = atomic_load_explicit(&box, memory_order_relaxed);
    after(2);
    l = atomic_load_explicit(&box, memory_order_acquire);
    MUST(l.part[4] == 6 && back == 1);
    back = 2;
    return NULL;
}

THREAD(second)
{
    struct large seen, want;

    after(1);
    seen = atomic_load_explicit(&box, memory_order_acquire);
    MUST(seen.part[4] == 5 && data++ == 1);
    back = 1;
    want = seen;
    want.part[4]++;
    MUST(atomic_compare_exchange_strong(&box, &seen, want));
    mark();
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
