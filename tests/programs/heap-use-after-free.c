// One thread frees what another still writes: the free is one of the two accesses.
#include "invisible.h"

static int *shared;

THREAD(writer)
{
    shared[3] = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(freer)
{
    after(1);
    free(shared); // RACE a:free
    return NULL;
}

int main(void)
{
    shared = malloc(40);
    both(writer, freer);
    return 0;
}
