// sendfile under the name it has where file offsets are asked to have 64 bits.
// NO RACE
// FLAGS: -D_FILE_OFFSET_BITS=64
#include <stdio.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "invisible.h"

static int ends[2], file;
int x;

THREAD(writer)
{
    x = 1;
    MUST(sendfile(ends[1], file, NULL, 1) == 1);
    return NULL;
}

THREAD(reader)
{
    char c;

    MUST(read(ends[0], &c, 1) == 1);
    x = 2;
    return NULL;
}

int main(void)
{
    file = fileno(tmpfile());
    MUST(write(file, "!", 1) == 1 && lseek(file, 0, SEEK_SET) == 0 && pipe(ends) == 0);
    both(writer, reader);
    return 0;
}
