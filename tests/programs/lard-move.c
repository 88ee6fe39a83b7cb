// A moved range: the past goes along, overlapping both ways and by odd distances; where it was there is none.
// TSAN: it does not know the interface
#include <deadheat/lard.h>

#include "invisible.h"

static char up[256] __attribute__((aligned(64))), down[256] __attribute__((aligned(64)));
static char monitor[128] __attribute__((aligned(64)));
int guarded, by_lock;

static char turn;

THREAD(first)
{
    up[10] = 1;   // RACE a
    down[60] = 1; // RACE b
    guarded = 1;
    dh_lard_release(&monitor[8]);
    dh_lard_lock(&monitor[16], DH_LARD_EXCLUSIVE);
    by_lock = 1;
    dh_lard_move(&up[7], &up[0], 100);
    dh_lard_move(&down[1], &down[6], 100);
    dh_lard_move(&monitor[64], &monitor[0], 32); /* while it is held */
    dh_lard_unlock(&monitor[64 + 16]);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    dh_lard_acquire(&turn); /* nothing, but in a recording it stands behind what the other has done */
    for (int i = 0; i < 17; i++)
        up[i] = 2;
    up[17] = 2; // RACE a
    for (int i = 56; i < 106; i++)
        down[i] = 2;
    down[55] = 2; // RACE b
    dh_lard_acquire(&monitor[64 + 8]);
    guarded = 2;
    dh_lard_lock(&monitor[64 + 16], DH_LARD_EXCLUSIVE);
    by_lock = 2;
    dh_lard_unlock(&monitor[64 + 16]);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
