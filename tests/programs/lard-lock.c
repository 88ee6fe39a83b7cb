// The program's locks, whatever they are made of: exclusive and shared, nested; readers do not order each other.
// TSAN: it does not know the interface
#include <deadheat/lard.h>

#include "invisible.h"

int guarded, read_side;
static char monitor, table;

THREAD(first)
{
    dh_lard_system_begin();
    dh_lard_lock(&monitor, DH_LARD_EXCLUSIVE);
    dh_lard_lock(&monitor, DH_LARD_EXCLUSIVE);
    dh_lard_system_end();
    guarded++;
    dh_lard_unlock(&monitor);
    guarded++;
    dh_lard_unlock(&monitor);
    dh_lard_lock(&table, DH_LARD_SHARED);
    read_side = 1; // RACE a
    dh_lard_unlock(&table);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    dh_lard_lock(&monitor, DH_LARD_EXCLUSIVE);
    guarded++;
    dh_lard_unlock(&monitor);
    dh_lard_lock(&table, DH_LARD_SHARED);
    read_side = 2; // RACE a
    dh_lard_unlock(&table);
    mark();
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(first, NULL), b = spawn(second, NULL);
    after(2);
    dh_lard_lock(&table, DH_LARD_EXCLUSIVE);
    read_side = 3;
    dh_lard_unlock(&table);
    join(a);
    join(b);
    return 0;
}
