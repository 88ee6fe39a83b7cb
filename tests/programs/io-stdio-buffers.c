// fread, fgets and fwrite touch the caller's buffers.
// FLAGS: -D_GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>

#include "invisible.h"

char in[32], line[32], out[32];
FILE *f;

THREAD(first)
{
    MUST(fread(in, 1, 10, f) == 10);    // RACE a:write
    MUST(fgets(line, sizeof(line), f)); // RACE b:write
    MUST(fwrite(out, 1, 20, f) == 20);  // RACE c:read
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    in[10] = 1;
    in[9] = 1; // RACE a:write
    line[5] = 1;
    line[4] = 1; // RACE b:write
    out[20] = 1;
    out[0] = 1; // RACE c:write
    return NULL;
}

int main(void)
{
    f = fdopen(memfd_create("file", 0), "w+");
    MUST(f && fputs("0123456789abc\n", f) >= 0);
    rewind(f);
    both(first, second);
    fclose(f);
    return 0;
}
