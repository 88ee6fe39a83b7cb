// A relaxed read-modify-write by another thread continues the release sequence.
// NO RACE
#include <stdatomic.h>

#include "invisible.h"

atomic_int flag;
int data;

THREAD(first)
{
    data = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    atomic_fetch_add_explicit(&flag, 1, memory_order_relaxed);
    mark();
    return NULL;
}

THREAD(third)
{
    after(2);
    MUST(atomic_load_explicit(&flag, memory_order_acquire) == 2);
    MUST(data == 42);
    data = 0;
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
