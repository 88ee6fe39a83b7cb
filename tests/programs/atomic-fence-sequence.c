// A relaxed store behind a release fence begins a release sequence as well: a relaxed read-modify-write of
// another thread goes on with it, and an acquire fence behind the load that reads the last of them acquires
// the first.
// NO RACE
// TSAN: it does not handle fences
#include <stdatomic.h>

#include "invisible.h"

static atomic_int flag;
static int data, more;

THREAD(begins)
{
    data = 1;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    mark();
    return NULL;
}

THREAD(goes_on)
{
    int expected = 2;

    after(1);
    MUST(atomic_fetch_add_explicit(&flag, 1, memory_order_relaxed) == 1);
    MUST(atomic_compare_exchange_strong_explicit(&flag, &expected, 3, memory_order_relaxed,
                                                 memory_order_relaxed));
    more = 1;
    atomic_thread_fence(memory_order_release);
    MUST(atomic_exchange_explicit(&flag, 4, memory_order_relaxed) == 3);
    mark();
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(begins, NULL), b = spawn(goes_on, NULL);

    after(2);
    MUST(atomic_load_explicit(&flag, memory_order_relaxed) == 4);
    atomic_thread_fence(memory_order_acquire);
    MUST(data++ == 1 && more++ == 1);
    join(a);
    join(b);
    return 0;
}
