// A buffer that a stream was given is the stream's: whoever else uses or frees it races with those who print.
// TSAN: it does not know these buffers
// FLAGS: -D_GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "invisible.h"

static FILE *f, *g, *in;
static char outside[64], filled[BUFSIZ];
static char *inside;

static FILE *open_file(void)
{
    FILE *file = fdopen(memfd_create("file", 0), "w+");

    MUST(file != NULL);
    return file;
}

THREAD(first)
{
    fprintf(f, "%d", 1);       // RACE a:write
    outside[40] = 1;           /* behind what was given */
    MUST(putc('1', g) == '1'); // RACE b:write
    MUST(getc(in) == 'x');     // RACE c:write
    mark();
    return NULL;
}

THREAD(second)
{
    char *buffer = seek((void **)&inside);

    after(1);
    outside[39] = 1; // RACE a:write
    free(buffer);    // RACE b:free
    use(filled[7]);  // RACE c:read
    return NULL;
}

int main(void)
{
    f = open_file();
    g = open_file();
    in = open_file();
    MUST(fputs("x", in) >= 0);
    rewind(in);
    MUST(setvbuf(f, outside, _IOFBF, 40) == 0);
    inside = malloc(100);
    setbuffer(g, inside, 100);
    setbuf(in, filled);
    both(first, second);
    _exit(0); /* and do not flush what was freed */
}
