// main returns while other threads are busy: a clean end with the program's own status.
// NO RACE
// EXIT: 7
#include "invisible.h"

long spinning[4];

THREAD(spinner)
{
    mark();
    for (;;)
        spinning[(long)arg]++;
    return NULL;
}

int main(void)
{
    for (long i = 0; i < 4; i++)
        spawn(spinner, (void *)i);
    after(4);
    return 7;
}
