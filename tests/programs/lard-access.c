// dh_lard_read and dh_lard_write are checked in an untracked region, and nothing else is.
// TSAN: it does not know the interface
#include <deadheat/lard.h>

#include "invisible.h"

int object[2], private_to_the_system;

THREAD(first)
{
    dh_lard_system_begin();
    private_to_the_system++;
    dh_lard_write(&object[0], 4, NULL); // RACE a:write
    object[0] = 1;
    dh_lard_read(&object[1], 4, NULL);
    dh_lard_system_end();
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    dh_lard_system_begin();
    private_to_the_system++;
    dh_lard_read(&object[0], 4, NULL); // RACE a:read
    dh_lard_read(&object[1], 4, NULL);
    dh_lard_system_end();
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
