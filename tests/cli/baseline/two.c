/*
 * two.c - a race on `known` and, with an argument, one on `new_counter`. With two arguments, also a second line that
 * races with the one that writes `known`: a variant of the first. Threads take turns by invisible.h, so that every run
 * has the same races.
 */
#include "invisible.h"

#include <string.h>

enum { SIZE = 64 };
char known[SIZE];
int new_counter;
static int arguments;

THREAD(writer)
{
    char own[SIZE];
    memset(own, 1, sizeof own);
    memcpy(known, own, sizeof known);
    if (arguments > 0)
        new_counter = 1;
    mark();
    return NULL;
}

THREAD(reader)
{
    after(1);
    use(known[0]);
    if (arguments > 0)
        use(new_counter);
    if (arguments > 1)
        use(known[40]);
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argv;
    arguments = argc - 1;
    both(writer, reader);
    return 0;
}
