// An atomic write and a plain read of the same variable race.
#include <stdatomic.h>

#include "invisible.h"

atomic_int x;

THREAD(first)
{
    atomic_store_explicit(&x, 1, memory_order_release); // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    use(*(int *)&x); // RACE a:read
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
