// What sbrk takes back is taken from its users; what it gives out after that is new.
// TSAN: it does not look at sbrk
// FLAGS: -D_GNU_SOURCE
#include <unistd.h>

#include "invisible.h"

enum { SIZE = 4 * 4096 };
static char *shared;

THREAD(user)
{
    shared[4096 + 1] = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(owner)
{
    after(1);
    MUST(sbrk(-SIZE) == shared + SIZE); // RACE a:free
    MUST(sbrk(SIZE) == shared);
    shared[4096 + 1] = 2;
    MUST(brk(shared + 4096) == 0);
    MUST(brk(shared + SIZE) == 0);
    return NULL;
}

int main(void)
{
    shared = sbrk(SIZE);
    MUST(shared != (void *)-1);
    both(user, owner);
    return 0;
}
