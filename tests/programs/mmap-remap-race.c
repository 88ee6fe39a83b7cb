// Memory that moves takes its history along: what one thread wrote at the old place races with a write at the new one.
// TSAN: it forgets what is moved
// FLAGS: -D_GNU_SOURCE
#include <sys/mman.h>

#include "invisible.h"

enum { SMALL = 2 * 4096, LARGE = 64 * 4096 };
static char *old, *blocked;

THREAD(first)
{
    old[5] = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    char *p = mremap(old, SMALL, LARGE, MREMAP_MAYMOVE);
    MUST(p != MAP_FAILED && p != old && p[4] == 0);
    p[5] = 2; // RACE a:write
    p[LARGE - 1] = 2;
    MUST(mremap(p, LARGE, SMALL, 0) == p);
    p[SMALL - 1] = 3;
    return NULL;
}

int main(void)
{
    /* Two mappings side by side: the first cannot grow where it is. */
    old = mmap(NULL, 2 * SMALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    blocked = mmap(old + SMALL, SMALL, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    MUST(old != MAP_FAILED && blocked == old + SMALL);
    both(first, second);
    return 0;
}
