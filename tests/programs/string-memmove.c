// memmove over overlapping ranges, against a reader at its far end.
#include <string.h>

#include "invisible.h"

int list[100];
volatile int count = 50;

THREAD(first)
{
    memmove(list + 1, list, count * sizeof(int)); // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    list[51] = 1;
    use(list[50]); // RACE a:read
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
