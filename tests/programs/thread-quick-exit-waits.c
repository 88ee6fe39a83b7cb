// quick_exit, too, gives the threads that still run some time: this one has far to go to the race.
// OPTIONS: exit_wait=60000
// EXIT: 66
#include <stdlib.h>

#include "invisible.h"

int x;

THREAD(late)
{
    after(1);
    for (int i = 0; i < 1000000; i++)
        after(1);
    x = 2; // RACE a:write
    return NULL;
}

int main(void)
{
    spawn(late, NULL);
    x = 1; // RACE a:write
    mark();
    quick_exit(0);
}
