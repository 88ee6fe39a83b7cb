// A race whose two sides lie in two source files.
// PART: second.c
#include "invisible.h"

void second_unit_write(void);

int shared_total;

THREAD(first)
{
    shared_total = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    second_unit_write();
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
