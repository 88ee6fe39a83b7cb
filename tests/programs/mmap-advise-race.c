// MADV_DONTNEED empties anonymous memory: a write, for whoever uses it before or after.
// TSAN: it does not look at madvise
// FLAGS: -D_GNU_SOURCE
#include <sys/mman.h>

#include "invisible.h"

enum { SIZE = 4 * 4096 };
static char *shared;

THREAD(user)
{
    use(shared[4096 + 1]); // RACE a:read
    shared[3 * 4096] = 1;  /* not among the pages that are emptied */
    mark();
    after(2);
    shared[4096 + 2] = 1; // RACE b:write
    return NULL;
}

THREAD(adviser)
{
    after(1);
    MUST(madvise(shared, 3 * 4096, MADV_DONTNEED) == 0); // RACE a:write b:write
    mark();
    return NULL;
}

int main(void)
{
    shared = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(shared != MAP_FAILED);
    both(user, adviser);
    return 0;
}
