// write() reads the buffer.
#include <unistd.h>

#include "invisible.h"

char buffer[64];
int ends[2];

THREAD(first)
{
    MUST(write(ends[1], buffer, 32) == 32); // RACE a:read
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    buffer[32] = 1;
    buffer[31] = 1; // RACE a:write
    return NULL;
}

int main(void)
{
    MUST(pipe(ends) == 0);
    both(first, second);
    return 0;
}
