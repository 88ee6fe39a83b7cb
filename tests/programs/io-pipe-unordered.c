// With io_sync=0 a pipe is only a pipe.
// OPTIONS: io_sync=0
// TSAN: its option is another
#include <unistd.h>

#include "invisible.h"

int ends[2];
int x;

THREAD(writer)
{
    x = 1; // RACE a:write
    MUST(write(ends[1], "!", 1) == 1);
    return NULL;
}

THREAD(reader)
{
    char c;

    MUST(read(ends[0], &c, 1) == 1);
    use(x); // RACE a:read
    return NULL;
}

int main(void)
{
    MUST(pipe(ends) == 0);
    both(writer, reader);
    return 0;
}
