// The program's synchronisation, first style: acquire and release count inside system regions. release adds to
// what was released before, release_store forgets it.
// TSAN: it does not know the interface
#include <deadheat/lard.h>

#include "invisible.h"

int from_first, from_second, forgotten;
static char joined, stored;

THREAD(first)
{
    from_first = 1;
    forgotten = 1; // RACE a
    dh_lard_system_begin();
    dh_lard_release(&joined);
    dh_lard_release(&stored);
    dh_lard_system_end();
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    from_second = 1;
    dh_lard_system_begin();
    dh_lard_release(&joined);
    dh_lard_release_store(&stored);
    dh_lard_system_end();
    mark();
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(first, NULL), b = spawn(second, NULL);
    after(2);
    dh_lard_system_begin();
    dh_lard_acquire(&stored);
    dh_lard_system_end();
    from_second = 2;
    forgotten = 2; // RACE a
    dh_lard_acquire(&joined);
    from_first = 2;
    join(a);
    join(b);
    return 0;
}
