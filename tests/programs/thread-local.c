// Thread-local variables are each thread's own, also when a later thread gets the same memory.
// NO RACE
#include "invisible.h"

static __thread long counter;
static __thread char buffer[256];

THREAD(worker)
{
    for (int i = 0; i < 100; i++) {
        counter++;
        buffer[i] = (char)i;
    }
    mark();
    after(2);
    MUST(counter == 100);
    return NULL;
}

THREAD(later)
{
    MUST(counter == 0);
    counter++;
    buffer[7] = 1;
    mark();
    return NULL;
}

int main(void)
{
    both(worker, worker);
    for (int i = 0; i < 4; i++) {
        pthread_detach(spawn(later, NULL));
        after(3 + i);
    }
    return 0;
}
