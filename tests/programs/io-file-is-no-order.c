// Reading what another thread wrote to a regular file orders nothing.
// FLAGS: -D_GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "invisible.h"

int fd, x;

THREAD(writer)
{
    x = 1; // RACE a:write
    MUST(pwrite(fd, "!", 1, 0) == 1);
    mark();
    return NULL;
}

THREAD(reader)
{
    char c;

    after(1);
    MUST(pread(fd, &c, 1, 0) == 1 && c == '!');
    use(x); // RACE a:read
    return NULL;
}

int main(void)
{
    fd = memfd_create("file", 0);
    MUST(fd >= 0);
    both(writer, reader);
    return 0;
}
