// What is moved over pages that another thread uses ends these, and brings its own history along.
// TSAN: it forgets what is moved
// FLAGS: -D_GNU_SOURCE
#include <sys/mman.h>

#include "invisible.h"

enum { SIZE = 2 * 4096 };
static char *used, *moved;

static char *map(size_t n)
{
    char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    MUST(p != MAP_FAILED);
    return p;
}

THREAD(user)
{
    used[4096 + 3] = 1; // RACE a:write
    moved[9] = 1;       // RACE b:write
    mark();
    return NULL;
}

THREAD(mover)
{
    char *p;

    after(1);
    p = mremap(moved, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, used); // RACE a:free
    MUST(p == used);
    p[4096 + 3] = 2;
    p[9] = 2; // RACE b:write
    return NULL;
}

int main(void)
{
    used = map(SIZE);
    moved = map(SIZE);
    both(user, mover);
    return 0;
}
