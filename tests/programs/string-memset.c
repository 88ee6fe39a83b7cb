// memset writes its whole range: the byte before and the byte behind are not in it.
// FLAGS: -fno-builtin
#include <string.h>

#include "invisible.h"

char text[300];

THREAD(first)
{
    memset(text + 10, 'x', 200); // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    text[9] = 1;
    text[210] = 1;
    use(text[209]); // RACE a:read
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
