// A second release store replaces the first: who reads it is after the second thread, not after the first.
#include <stdatomic.h>

#include "invisible.h"

atomic_int flag;
int one, two;

THREAD(first)
{
    one = 1; // RACE a:write
    atomic_store_explicit(&flag, 1, memory_order_release);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    two = 2;
    atomic_store_explicit(&flag, 2, memory_order_release);
    mark();
    return NULL;
}

THREAD(third)
{
    after(2);
    MUST(atomic_load_explicit(&flag, memory_order_acquire) == 2);
    MUST(two == 2);
    use(one); // RACE a:read
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(first, NULL), b = spawn(second, NULL), c = spawn(third, NULL);

    join(a);
    join(b);
    join(c);
    return 0;
}
