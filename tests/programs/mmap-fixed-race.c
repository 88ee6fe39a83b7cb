// Pages mapped over memory that another thread uses end it, as munmap does; what is there then is new.
// TSAN: it forgets what was there
// FLAGS: -D_GNU_SOURCE
#include <sys/mman.h>

#include "invisible.h"

enum { SIZE = 4 * 4096, ANON = MAP_PRIVATE | MAP_ANONYMOUS };
static char *shared;

THREAD(user)
{
    shared[5] = 1;             // RACE a:write
    use(shared[2 * 4096 + 7]); // RACE b:read
    shared[SIZE] = 1;          /* beyond what is mapped anew */
    mark();
    return NULL;
}

THREAD(mapper)
{
    char *p;

    after(1);
    p = mmap(shared, SIZE, PROT_READ | PROT_WRITE, ANON | MAP_FIXED, -1, 0); // RACE a:free b:free
    MUST(p == shared && p[5] == 0);
    p[5] = 2;
    p[2 * 4096 + 7] = 2;
    return NULL;
}

int main(void)
{
    shared = mmap(NULL, SIZE + 4096, PROT_READ | PROT_WRITE, ANON, -1, 0);
    MUST(shared != MAP_FAILED);
    both(user, mapper);
    return 0;
}
