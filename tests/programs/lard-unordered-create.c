// A thread created, or joined, in an unordered region is a thread of its own, and nothing more.
// TSAN: it does not know the interface
#include <deadheat/lard.h>

#include "invisible.h"

long before, result;

THREAD(worker)
{
    before = 2; // RACE a
    result = 1; // RACE b
    return NULL;
}

int main(void)
{
    before = 1; // RACE a
    dh_lard_unordered_begin();
    pthread_t t = spawn(worker, NULL);
    join(t);
    dh_lard_unordered_end();
    result = 2; // RACE b
    return 0;
}
