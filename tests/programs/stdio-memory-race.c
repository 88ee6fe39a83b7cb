// A call on a stream over memory touches the bytes that it passes; flushing writes those that waited.
// TSAN: it does not know fmemopen
#include <stdio.h>

#include "invisible.h"

static char in[16] = "0123456789", out[16], waiting[16];
static FILE *reads, *writes, *flushed;

THREAD(first)
{
    MUST(getc(reads) == '0' && getc(reads) == '1');
    MUST(fgetc(reads) == '2');             // RACE a:read
    MUST(fprintf(writes, "%d", 123) == 3); // RACE b:write
    MUST(fputs("ab", flushed) >= 0);       /* seen by the second thread */
    mark();
    after(2);
    MUST(fflush(flushed) == 0); // RACE c:write
    return NULL;
}

THREAD(second)
{
    after(1);
    in[3] = 'x';
    in[2] = 'x'; // RACE a:write
    out[3] = 'x';
    use(out[2]); // RACE b:read
    waiting[3] = 'x';
    waiting[2] = 'x'; // RACE c:write
    mark();
    return NULL;
}

int main(void)
{
    reads = fmemopen(in, sizeof in, "r");
    writes = fmemopen(out, sizeof out, "w");
    flushed = fmemopen(waiting, sizeof waiting, "w");
    MUST(reads && writes && flushed);
    both(first, second);
    return 0;
}
