// Code like that of exception-cxx-thread, without --dh-exceptions: the thread ends, but what the accessing
// function holds is not destroyed.
// OPTIONS: on_race=exception:race_action=thread
#include "invisible.h"

int x;
static int destroyed;
static volatile int never;

struct Guard {
    ~Guard()
    {
        destroyed++;
    }
};

THREAD(first)
{
    x = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    try {
        Guard guard;
        if (never) /* so that the function has landing pads; the write has none */
            throw 1;
        x = 2; // RACE a:write
        abort();
    } catch (...) {
        abort();
    }
}

int main()
{
    pthread_t one = spawn(first, NULL), other = spawn(second, NULL);
    MUST(join(one) == NULL && join(other) == PTHREAD_CANCELED);
    MUST(x == 1 && destroyed == 0);
    return 0;
}
