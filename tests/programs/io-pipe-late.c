// What is written after the byte went into the pipe is not ordered by it.
#include <unistd.h>

#include "invisible.h"

int ends[2];
int x;

THREAD(writer)
{
    MUST(write(ends[1], "!", 1) == 1);
    x = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(reader)
{
    char c;

    MUST(read(ends[0], &c, 1) == 1);
    after(1);
    use(x); // RACE a:read
    return NULL;
}

int main(void)
{
    MUST(pipe(ends) == 0);
    both(writer, reader);
    return 0;
}
