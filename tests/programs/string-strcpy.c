// strcpy writes the terminator too.
// FLAGS: -fno-builtin
#include <string.h>

#include "invisible.h"

char from[32] = "hello", to[32];

THREAD(first)
{
    strcpy(to, from); // RACE a:write b:read
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    to[6] = 1;
    use(to[5]);    // RACE a:read
    from[0] = 'j'; // RACE b:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
