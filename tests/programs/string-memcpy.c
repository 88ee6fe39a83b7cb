// memcpy reads its source and writes its target, to the byte.
#include <string.h>

#include "invisible.h"

char from[300], to[300];
volatile int length = 133;

THREAD(first)
{
    memcpy(to + 7, from + 3, length); // RACE a:read b:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    from[2] = 1;
    from[136] = 1;
    to[6] = 1;
    to[140] = 1;
    from[3] = 1;  // RACE a:write
    use(to[139]); // RACE b:read
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
