// What was done to the source counts as done to the copy, to the byte, also where it lands elsewhere in its
// word; what was done to the destination before is forgotten.
// TSAN: it does not know the interface
#include <deadheat/lard.h>

#include "invisible.h"

static char from[64] __attribute__((aligned(64))), to[64] __attribute__((aligned(64)));
int aligned_from[16], aligned_to[16];

static char turn;

THREAD(first)
{
    from[5] = 1;         // RACE a
    aligned_from[3] = 1; // RACE b c
    for (int i = 0; i < 16; i++)
        aligned_to[i] = 1;
    for (int i = 20; i < 40; i++)
        to[i] = 1;
    dh_lard_copy(&to[18], &from[1], 30); /* from[5] becomes to[22] */
    dh_lard_copy(aligned_to, aligned_from, sizeof(aligned_to));
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    dh_lard_acquire(&turn); /* nothing, but in a recording it stands behind what the other has done */
    for (int i = 18; i < 48; i++)
        if (i != 22)
            to[i] = 2;
    to[22] = 2; // RACE a
    for (int i = 0; i < 16; i++)
        if (i != 3)
            aligned_to[i] = 2;
    aligned_to[3] = 2;   // RACE b
    aligned_from[3] = 2; // RACE c
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
