// mremap moves pages; an ordered user finds its data and no false race at either address.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <sys/mman.h>

#include "invisible.h"

static char *shared;

THREAD(filler)
{
    for (int i = 0; i < 4096; i++)
        shared[i] = (char)i;
    return NULL;
}

THREAD(checker)
{
    for (int i = 0; i < 4096; i++)
        MUST(shared[i] == (char)i);
    shared[4096 * 63] = 1;
    return NULL;
}

int main(void)
{
    char *old;

    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(shared != MAP_FAILED);
    join(spawn(filler, NULL));
    old = shared;
    shared = mremap(old, 4096, 4096 * 64, MREMAP_MAYMOVE);
    MUST(shared != MAP_FAILED);
    join(spawn(checker, NULL));
    munmap(shared, 4096 * 64);
    return 0;
}
