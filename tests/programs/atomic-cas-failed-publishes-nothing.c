// A failed compare-exchange stores nothing, so its release publishes nothing.
#include <stdatomic.h>

#include "invisible.h"

atomic_int flag;
int x;

THREAD(first)
{
    int expected = 5;

    x = 1; // RACE a:write
    MUST(!atomic_compare_exchange_strong(&flag, &expected, 9));
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    MUST(atomic_load_explicit(&flag, memory_order_acquire) == 0);
    use(x); // RACE a:read
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
