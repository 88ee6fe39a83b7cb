// Threads that print to one stream share the buffer it was given, and whoever closes it may have that back.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "invisible.h"

enum { SIZE = 256 };
static FILE *f, *g;
static char *buffer, other[SIZE];
static char text[SIZE];

THREAD(first)
{
    for (int i = 0; i < 100; i++)
        MUST(fprintf(f, "%s %d\n", "first", i) > 0 && putc('-', f) == '-');
    MUST(fputs("end\n", g) >= 0);
    mark();
    return NULL;
}

/* The stream's lock alone says that the first thread has done with the buffers. */
THREAD(second)
{
    for (int i = 0; i < 100; i++)
        MUST(fprintf(f, "%s %d\n", "second", i) > 0 && fflush(f) == 0);
    after(1);
    MUST(fclose(f) == 0);
    memset(buffer, 0, SIZE);
    free(buffer);
    MUST(setvbuf(g, text, _IOLBF, SIZE) == 0);
    memset(other, 0, SIZE);
    MUST(fputs("text", g) >= 0);
    setbuf(g, NULL);
    MUST(text[0] != 'z');
    text[0] = 'z';
    setlinebuf(g);
    MUST(fclose(g) == 0);
    return NULL;
}

int main(void)
{
    buffer = malloc(SIZE);
    f = fdopen(memfd_create("file", 0), "w+");
    g = fdopen(memfd_create("other", 0), "w+");
    MUST(f != NULL && g != NULL);
    MUST(setvbuf(f, buffer, _IOFBF, SIZE) == 0);
    MUST(setvbuf(g, other, _IOFBF, SIZE) == 0);
    both(first, second);
    return 0;
}
