// fflush and fclose write the text of open_memstream, the pointer to it, and its size.
// TSAN: it does not know what closing writes
#define _GNU_SOURCE
#include <stdio.h>

#include "invisible.h"

static char *text, *closed;
static size_t size, closed_size;
static FILE *f, *g;

THREAD(first)
{
    MUST(fputs("hello", f) >= 0);
    MUST(fflush(f) == 0); // RACE a:write b:write
    MUST(fputs("bye", g) >= 0);
    MUST(fclose(g) == 0); // RACE c:write d:write
    mark();
    return NULL;
}

THREAD(second)
{
    char *p;

    after(1);
    MUST(size == 5); // RACE a:read
    p = seek((void **)&text);
    use(p[5]);         // RACE b:read
    use((long)closed); // RACE c:read
    p = seek((void **)&closed);
    p[0] = 'B'; // RACE d:write
    return NULL;
}

int main(void)
{
    f = open_memstream(&text, &size);
    g = open_memstream(&closed, &closed_size);
    MUST(f && g);
    both(first, second);
    return 0;
}
