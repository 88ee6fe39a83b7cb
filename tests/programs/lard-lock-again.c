// A lock of the language that threads take again and again: as long as nobody has anything to tell, that changes
// nothing; as soon as somebody has, the next one hears of it.
// TSAN: it does not know the interface
#include <deadheat/lard.h>

#include "invisible.h"

int told, kept, seen;
static char monitor;

static void take(void)
{
    dh_lard_lock(&monitor, DH_LARD_EXCLUSIVE);
    dh_lard_unlock(&monitor);
}

THREAD(first)
{
    for (int i = 0; i < 4; i++)
        take();
    mark();
    after(2);
    for (int i = 0; i < 4; i++)
        take();
    dh_lard_lock(&monitor, DH_LARD_EXCLUSIVE);
    told = 1;
    dh_lard_unlock(&monitor);
    take();
    kept = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    for (int i = 0; i < 4; i++)
        take();
    mark();
    after(3);
    for (int i = 0; i < 4; i++)
        take();
    dh_lard_lock(&monitor, DH_LARD_EXCLUSIVE);
    seen = told;
    dh_lard_unlock(&monitor);
    seen = kept; // RACE a:read
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(first, NULL), b = spawn(second, NULL);
    join(a);
    join(b);
    return 0;
}
