// Mapped memory is watched like any other.
// FLAGS: -D_GNU_SOURCE
#include <sys/mman.h>

#include "invisible.h"

static int *shared;

THREAD(first)
{
    shared[5000] = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    shared[5000]++; // RACE a
    return NULL;
}

int main(void)
{
    shared = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(shared != MAP_FAILED);
    both(first, second);
    munmap(shared, 1 << 16);
    return 0;
}
