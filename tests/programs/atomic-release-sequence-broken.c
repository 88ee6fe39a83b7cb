// A relaxed store by another thread ends the release sequence: who reads it acquires nothing.
// TSAN: it lets a relaxed store continue a release sequence
#include <stdatomic.h>

#include "invisible.h"

atomic_int flag;
int data;

THREAD(first)
{
    data = 42; // RACE a:write
    atomic_store_explicit(&flag, 1, memory_order_release);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    atomic_store_explicit(&flag, 2, memory_order_relaxed);
    mark();
    return NULL;
}

THREAD(third)
{
    after(2);
    MUST(atomic_load_explicit(&flag, memory_order_acquire) == 2);
    use(data); // RACE a:read
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
