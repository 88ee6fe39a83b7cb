// A local variable passed to a thread and used again after the join.
// NO RACE
#include "invisible.h"

THREAD(child)
{
    int *p = arg;

    *p += 1;
    return NULL;
}

int main(void)
{
    int local = 1;

    for (int i = 0; i < 3; i++)
        join(spawn(child, &local));
    local++;
    MUST(local == 5);
    return 0;
}
