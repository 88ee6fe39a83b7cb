// A sequence lock written as C11 wants it: the data are relaxed atomics, so nothing races.
// NO RACE
// TSAN: it does not handle fences
#include <stdatomic.h>

#include "invisible.h"

atomic_uint sequence;
atomic_int left, right;

THREAD(writer)
{
    for (int i = 1; i <= 100; i++) {
        unsigned s = atomic_load_explicit(&sequence, memory_order_relaxed);

        atomic_store_explicit(&sequence, s + 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&left, i, memory_order_relaxed);
        atomic_store_explicit(&right, i, memory_order_relaxed);
        atomic_store_explicit(&sequence, s + 2, memory_order_release);
    }
    return NULL;
}

THREAD(reader)
{
    for (int i = 0; i < 100; i++) {
        unsigned s = atomic_load_explicit(&sequence, memory_order_acquire);
        int l = atomic_load_explicit(&left, memory_order_relaxed);
        int r = atomic_load_explicit(&right, memory_order_relaxed);

        atomic_thread_fence(memory_order_acquire);
        if (s % 2 == 0 && s == atomic_load_explicit(&sequence, memory_order_relaxed))
            MUST(l == r);
    }
    return NULL;
}

int main(void)
{
    both(writer, reader);
    return 0;
}
