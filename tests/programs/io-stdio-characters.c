// Characters through streams over a pipe order threads, one by one and by scanf.
// TSAN: it makes no edges through streams
// NO RACE
#include <stdio.h>
#include <unistd.h>

#include "invisible.h"

FILE *in, *out, *in2, *out2;
int x, y;

THREAD(writer)
{
    x = 1;
    MUST(fputc('a', out) == 'a' && putc('b', out) == 'b' && fflush(out) == 0);
    MUST(getc(in2) == 'c');
    MUST(y == 1);
    x = 3;
    MUST(fputs("7 ", out) >= 0 && fflush(out) == 0);
    return NULL;
}

THREAD(reader)
{
    int n;

    MUST(fgetc(in) == 'a' && getc(in) == 'b');
    MUST(x == 1);
    y = 1;
    MUST(fputc('c', out2) == 'c' && fflush(out2) == 0);
    MUST(fscanf(in, "%d", &n) == 1 && n == 7);
    MUST(x == 3);
    return NULL;
}

static void connect_by_pipe(FILE **ret_in, FILE **ret_out)
{
    int ends[2];

    MUST(pipe(ends) == 0);
    *ret_in = fdopen(ends[0], "r");
    *ret_out = fdopen(ends[1], "w");
    MUST(*ret_in && *ret_out);
}

int main(void)
{
    connect_by_pipe(&in, &out);
    connect_by_pipe(&in2, &out2);
    both(writer, reader);
    return 0;
}
