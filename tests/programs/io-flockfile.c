// flockfile is a lock like others, and recursive; two streams are two locks.
// TSAN: it does not know flockfile
#include <stdio.h>

#include "invisible.h"

int guarded, loose;

static void touch(FILE *other)
{
    flockfile(stdout);
    flockfile(stdout);
    funlockfile(stdout);
    guarded++;
    funlockfile(stdout);
    MUST(ftrylockfile(stdout) == 0);
    guarded++;
    funlockfile(stdout);
    flockfile(other);
    loose++; // RACE a
    funlockfile(other);
}

THREAD(first)
{
    touch(stdin);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    touch(stderr);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
