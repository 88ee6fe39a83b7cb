// A byte through a pipe orders the reader after the writer.
// NO RACE
#include <unistd.h>

#include "invisible.h"

int ends[2];
int x;

THREAD(writer)
{
    x = 1;
    MUST(write(ends[1], "!", 1) == 1);
    return NULL;
}

THREAD(reader)
{
    char c;

    MUST(read(ends[0], &c, 1) == 1);
    MUST(x == 1);
    x = 2;
    return NULL;
}

int main(void)
{
    MUST(pipe(ends) == 0);
    both(writer, reader);
    return 0;
}
