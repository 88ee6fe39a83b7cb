// A compare-exchange that fails is still a load: with an acquiring failure order it acquires what it read, in
// every size and also where the order for success is weaker.
// NO RACE
#include <stdatomic.h>

#include "invisible.h"

static atomic_int four;
static atomic_char one;
static atomic_long eight;
static int data, byte_data, long_data;

THREAD(first)
{
    data = 1;
    atomic_store_explicit(&four, 1, memory_order_release);
    byte_data = 1;
    atomic_store_explicit(&one, 1, memory_order_release);
    long_data = 1;
    atomic_store_explicit(&eight, 1, memory_order_release);
    mark();
    return NULL;
}

THREAD(second)
{
    int four_expected = 0;
    char one_expected = 0;
    long eight_expected = 0;

    after(1);
    MUST(!atomic_compare_exchange_strong_explicit(&four, &four_expected, 2, memory_order_relaxed,
                                                  memory_order_acquire));
    MUST(four_expected == 1 && data++ == 1);
    MUST(!atomic_compare_exchange_strong(&one, &one_expected, 2));
    MUST(one_expected == 1 && byte_data++ == 1);
    MUST(!atomic_compare_exchange_weak_explicit(&eight, &eight_expected, 2, memory_order_acq_rel,
                                                memory_order_acquire));
    MUST(eight_expected == 1 && long_data++ == 1);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
