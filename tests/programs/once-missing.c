// Lazy initialisation by hand: two threads may both find the table empty.
#include "invisible.h"

int initialised, table[4];

static void prepare(void)
{
    if (!initialised) {  // RACE a:read
        table[0] = 1;    // RACE b:write
        initialised = 1; // RACE a:write
    }
}

THREAD(first)
{
    prepare();
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    prepare();
    use(table[0]); // RACE b:read
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
