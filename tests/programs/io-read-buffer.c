// read() writes into the buffer, as far as it got bytes.
#include <unistd.h>

#include "invisible.h"

char buffer[64];
int ends[2];

THREAD(first)
{
    MUST(read(ends[0], buffer, sizeof(buffer)) == 10); // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    buffer[10] = 1;
    use(buffer[9]); // RACE a:read
    return NULL;
}

int main(void)
{
    MUST(pipe(ends) == 0);
    MUST(write(ends[1], "0123456789", 10) == 10);
    both(first, second);
    return 0;
}
