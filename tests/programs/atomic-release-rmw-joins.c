// Two releasing read-modify-writes: the second also continues the sequence of the first, so both are seen.
// NO RACE
#include <stdatomic.h>

#include "invisible.h"

atomic_int count;
int parts[2];

THREAD(worker)
{
    parts[(long)arg] = 1;
    atomic_fetch_add_explicit(&count, 1, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(worker, (void *)0), b = spawn(worker, (void *)1);

    while (atomic_load_explicit(&count, memory_order_acquire) < 2)
        ;
    MUST(parts[0] + parts[1] == 2);
    parts[0] = parts[1] = 0;
    join(a);
    join(b);
    return 0;
}
