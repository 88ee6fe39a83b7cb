// A cleared range has no past, to the byte; what is beside it has. Synchronisation objects in it are forgotten.
// TSAN: it does not know the interface
#include <deadheat/lard.h>

#include "invisible.h"

static char bytes[64] __attribute__((aligned(64)));
long object, guarded;

/* The compiler shall not make one write of several. */
HELPER void apart(void)
{
    __asm__ volatile("" : : : "memory");
}

static char turn;

THREAD(first)
{
    bytes[4] = 1; // RACE a
    apart();
    for (int i = 5; i < 30; i++)
        bytes[i] = 1;
    apart();
    bytes[30] = 1; // RACE b
    guarded = 1;   // RACE c
    dh_lard_release(&object);
    dh_lard_clear(&bytes[5], 25);
    dh_lard_clear(&object, sizeof(object));
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    dh_lard_acquire(&turn); /* nothing, but in a recording it stands behind what the other has done */
    bytes[4] = 2;           // RACE a
    apart();
    for (int i = 5; i < 30; i++)
        bytes[i] = 2;
    apart();
    bytes[30] = 2; // RACE b
    dh_lard_acquire(&object);
    guarded = 2; // RACE c
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
