// Accesses in an untracked region are neither checked nor recorded, those of intercepted functions too; regions
// nest, and the inlined checks of code that is called in one are harmless.
// TSAN: it does not know the interface
// NO RACE
#include <deadheat/lard.h>
#include <string.h>

#include "invisible.h"

int word;
static char bytes[256], from[256];
static long big[64];

__attribute__((noinline)) static void work(int n)
{
    word += n;
    memcpy(bytes, from, sizeof(bytes));
    memset(from, n, 100);
    for (int i = 0; i < 64; i++)
        big[i] += n;
    dh_lard_untracked_begin();
    word += n;
    dh_lard_untracked_end();
    bytes[n & 255]++;
}

THREAD(first)
{
    dh_lard_untracked_begin();
    work(1);
    dh_lard_untracked_end();
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    work(2); /* tracked: it must find nothing of the first one's */
    mark();
    return NULL;
}

THREAD(third)
{
    after(2);
    dh_lard_untracked_begin();
    work(3); /* and here nothing is looked for */
    dh_lard_untracked_end();
    return NULL;
}

int main(void)
{
    pthread_t t = spawn(third, NULL);
    both(first, second);
    join(t);
    return 0;
}
