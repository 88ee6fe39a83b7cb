// Wide characters through streams over a pipe order threads.
// NO RACE
// TSAN: it makes no edges through streams
#include <stdio.h>
#include <unistd.h>
#include <wchar.h>

#include "invisible.h"

static FILE *in, *out;
int x;

THREAD(writer)
{
    x = 1;
    MUST(fputwc(L'a', out) == L'a' && fflush(out) == 0);
    x = 2;
    MUST(fwprintf(out, L"%d %s\n", 7, "line") > 0 && fflush(out) == 0);
    return NULL;
}

THREAD(reader)
{
    wchar_t line[16];
    int n;

    MUST(fgetwc(in) == L'a');
    MUST(fwscanf(in, L"%d", &n) == 1 && n == 7);
    MUST(x == 2 && fgetws(line, 16, in) != NULL);
    x = 3;
    return NULL;
}

int main(void)
{
    int ends[2];

    MUST(pipe(ends) == 0);
    in = fdopen(ends[0], "r");
    out = fdopen(ends[1], "w");
    MUST(in && out);
    both(writer, reader);
    return 0;
}
