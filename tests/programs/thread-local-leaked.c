// A pointer to one thread's thread-local variable, used by another.
// TSAN: it takes the start of a thread for a write to all of its thread-local storage
#include "invisible.h"

static __thread int mine;
static void *leaked;

THREAD(owner)
{
    mine = 1; // RACE a:write
    hide(&leaked, &mine);
    mark();
    after(2);
    return NULL;
}

THREAD(stranger)
{
    after(1);
    use(*(int *)seek(&leaked)); // RACE a:read
    mark();
    return NULL;
}

int main(void)
{
    both(owner, stranger);
    return 0;
}
