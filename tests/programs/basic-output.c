// The program's own output and exit status pass through untouched.
// NO RACE
// ARGS: one two
// OUTPUT: one
// OUTPUT: two
// OUTPUT: 2 words
// EXIT: 3
#include <stdio.h>

#include "invisible.h"

static char **words;

THREAD(printer)
{
    int n = 0;

    for (; words[n]; n++)
        puts(words[n]);
    printf("%d words\n", n);
    return NULL;
}

int main(int argc, char **argv)
{
    words = argv + 1;
    join(spawn(printer, NULL));
    return argc;
}
