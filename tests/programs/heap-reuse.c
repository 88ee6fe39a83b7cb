// Memory freed by one thread and allocated by another is new memory.
// NO RACE
#include <malloc.h>

#include "invisible.h"

THREAD(first)
{
    long *p = malloc(2000);

    for (int i = 0; i < 250; i++)
        p[i] = i;
    free(p);
    mark();
    return NULL;
}

THREAD(second)
{
    long *p;

    after(1);
    p = malloc(2000);
    for (int i = 0; i < 250; i++)
        p[i] = -i;
    free(p);
    return NULL;
}

int main(void)
{
    mallopt(M_ARENA_MAX, 1); /* so that the block really is used again */
    both(first, second);
    return 0;
}
