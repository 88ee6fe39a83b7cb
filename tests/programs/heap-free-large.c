// A large block that stays in the heap when it is freed: an access before and one after are found.
// TSAN: it looks at the first kilobyte of a freed block only
#include "invisible.h"

#include <malloc.h>

enum { SIZE = 1 << 20, NEAR = 100, FAR = SIZE - 100 };

static char *shared;

THREAD(user)
{
    shared[NEAR] = 1; // RACE a:write
    mark();
    after(2);
    use(shared[FAR]); // RACE b:read
    return NULL;
}

THREAD(freer)
{
    after(1);
    free(shared); // RACE a:free b:free
    mark();
    return NULL;
}

int main(void)
{
    mallopt(M_MMAP_THRESHOLD, 64 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    shared = malloc(SIZE);
    shared[FAR] = 0;
    both(user, freer);
    return 0;
}
