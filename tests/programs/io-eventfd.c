// An eventfd orders its reader after its writer.
// NO RACE
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "invisible.h"

int fd, x;

THREAD(writer)
{
    x = 1;
    MUST(eventfd_write(fd, 1) == 0);
    return NULL;
}

THREAD(reader)
{
    eventfd_t value;

    MUST(eventfd_read(fd, &value) == 0 && value == 1);
    MUST(x++ == 1);
    return NULL;
}

int main(void)
{
    uint64_t one = 1, got;

    fd = eventfd(0, 0);
    MUST(fd >= 0);
    both(writer, reader);
    MUST(write(fd, &one, 8) == 8 && read(fd, &got, 8) == 8 && got == 1);
    return 0;
}
