// The other way round: freed first, then read by a thread that does not know.
#include "invisible.h"

static int *shared;

THREAD(freer)
{
    free(shared); // RACE a:free
    mark();
    return NULL;
}

THREAD(reader)
{
    after(1);
    use(shared[3]); // RACE a:read
    return NULL;
}

int main(void)
{
    shared = malloc(40);
    shared[3] = 0;
    both(freer, reader);
    return 0;
}
