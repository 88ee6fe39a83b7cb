// Memory that is mapped anew starts without history also where the program has locked all of it, which it may not be
// permitted to: then this is no more than mmap-reuse.c.
// NO RACE
#include <sys/mman.h>

#include "invisible.h"

enum { SIZE = 1 << 20 };
static void *place;

static void use_all(char *p)
{
    for (int i = 0; i < SIZE; i += 64)
        p[i]++;
}

static void *mapped(void *hint)
{
    void *p = mmap(hint, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(p != MAP_FAILED);
    return p;
}

THREAD(first)
{
    void *p = mapped(NULL);

    use_all(p);
    MUST(munmap(p, SIZE) == 0);
    hide(&place, p);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    void *p = mapped(seek(&place));

    use_all(p);
    MUST(munmap(p, SIZE) == 0);
    return NULL;
}

int main(void)
{
    mlockall(MCL_CURRENT | MCL_FUTURE);
    both(first, second);
    return 0;
}
