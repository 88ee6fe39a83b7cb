// strlen reads up to the terminator, and the terminator.
// FLAGS: -fno-builtin
#include <string.h>

#include "invisible.h"

char text[32] = "hello";

THREAD(first)
{
    use(strlen(text)); // RACE a:read
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    text[6] = 'x';
    text[5] = '!'; // RACE a:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
