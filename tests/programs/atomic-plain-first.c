// The other way round: initialised plainly, without order, then used atomically.
#include <stdatomic.h>

#include "invisible.h"

atomic_int x;

THREAD(first)
{
    *(int *)&x = 5; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    use(atomic_fetch_add(&x, 1)); // RACE a
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
