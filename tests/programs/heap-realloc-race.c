// realloc frees (or resizes) the block under a reader.
#include "invisible.h"

static long *shared;

THREAD(reader)
{
    use(shared[1]); // RACE a:read
    mark();
    return NULL;
}

THREAD(grower)
{
    long *bigger;

    after(1);
    bigger = realloc(shared, 1 << 20); // RACE a
    use((long)bigger);
    free(bigger);
    return NULL;
}

int main(void)
{
    shared = malloc(64);
    shared[1] = 1;
    both(reader, grower);
    return 0;
}
