// fgetpos writes a position of the program's, fsetpos reads one.
// TSAN: it does not know them
// FLAGS: -D_GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>

#include "invisible.h"

FILE *f;
fpos_t from, to;

THREAD(first)
{
    MUST(fgetpos(f, &from) == 0); // RACE a:write
    MUST(fsetpos(f, &to) == 0);   // RACE b:read
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    ((char *)&from)[3] = 1; // RACE a:write
    ((char *)&to)[3] = 1;   // RACE b:write
    return NULL;
}

int main(void)
{
    f = fdopen(memfd_create("file", 0), "w+");
    MUST(f && fputs("0123456789abc\n", f) >= 0);
    both(first, second);
    fclose(f);
    return 0;
}
