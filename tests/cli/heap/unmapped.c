/* A mapping with its first page in one region of the shadow and the others in the next. */
#include <sys/mman.h>

#include "invisible.h"

enum { PAGE = 4096, PAGES = 4 };
static char *shared;

THREAD(user)
{
    shared[0] = 1;
    shared[2 * PAGE] = 1;
    mark();
    return NULL;
}

THREAD(unmaps)
{
    after(1);
    munmap(shared, PAGES * PAGE);
    return NULL;
}

int main(void)
{
    char *end = (char *)0x7e0000100000; /* of a region */
    shared = mmap(end - PAGE, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(shared == end - PAGE);
    both(user, unmaps);
    return 0;
}
