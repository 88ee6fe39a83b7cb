// Pages unmapped by one thread and mapped again by another are new memory.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <sys/mman.h>

#include "invisible.h"

static void *place;

static void *map(void *where)
{
    void *p = mmap(where, 1 << 16, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0), -1, 0);

    MUST(p != MAP_FAILED);
    return p;
}

THREAD(first)
{
    char *p;

    after(1); /* both threads exist: libc must not put the stack of the second in the hole */
    p = map(NULL);
    for (int i = 0; i < 1 << 16; i += 64)
        p[i] = 1;
    munmap(p, 1 << 16);
    hide(&place, p);
    mark();
    return NULL;
}

THREAD(second)
{
    char *p;

    mark();
    after(2);
    p = map(seek(&place));
    for (int i = 0; i < 1 << 16; i += 64) {
        MUST(p[i] == 0);
        p[i] = 2;
    }
    munmap(p, 1 << 16);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
