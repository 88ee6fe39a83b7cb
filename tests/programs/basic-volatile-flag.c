// volatile is not synchronisation: both the flag and what it guards race.
// TSAN: it reports one race per eight bytes
#include "invisible.h"

volatile int ready;
int data;

THREAD(producer)
{
    data = 42; // RACE a:write
    ready = 1; // RACE b:write
    mark();
    return NULL;
}

THREAD(consumer)
{
    after(1);
    while (!ready) // RACE b:read
        ;
    use(data); // RACE a:read
    return NULL;
}

int main(void)
{
    both(producer, consumer);
    return 0;
}
