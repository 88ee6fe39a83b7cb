// A control of pthread_once that is initialised while the program runs: what was done once orders what comes later, but not the
// initialisation of the control itself.
// TSAN: it looks at the control only to order
#include <threads.h>

#include "invisible.h"

pthread_once_t once;
once_flag flag;
int filled, filled_too;

static void fill(void)
{
    filled = 1;
}

static void fill_too(void)
{
    filled_too = 1;
}

THREAD(first)
{
    once = PTHREAD_ONCE_INIT;         // RACE a:write
    flag = (once_flag)ONCE_FLAG_INIT; // RACE b:write
    pthread_once(&once, fill);
    call_once(&flag, fill_too);
    mark();
    return NULL;
}

/* Each in a thread of its own: what one has ordered would order the other. */
THREAD(second)
{
    after(1);
    pthread_once(&once, fill); // RACE a:read
    use(filled);
    return NULL;
}

THREAD(third)
{
    after(1);
    call_once(&flag, fill_too); // RACE b:read
    use(filled_too);
    return NULL;
}

int main(void)
{
    pthread_t t[] = {spawn(first, NULL), spawn(second, NULL), spawn(third, NULL)};

    for (int i = 0; i < 3; i++)
        join(t[i]);
    return 0;
}
