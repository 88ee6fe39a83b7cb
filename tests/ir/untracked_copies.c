// The optimiser copies a function to specialise it for a constant argument; copies of an untracked one are untracked.
// PLUGIN: yes
// MATCH fill.specialized.1: ^ +store i32
// NOMATCH fill.specialized.1: __dh_
// MATCH loud: __dh_
#include "deadheat/deadheat.h"
int x, from[8], to[8];
DH_UNTRACKED static void fill(int *into, const int *of, int n)
{
    for (int i = 0; i < n; i++) {
        into[i] = of ? of[i] : 0;
        __asm__ volatile("" : : : "memory");
    }
}
void loud(int n)
{
    x = n;
    fill(to, from, n);
    fill(from, 0, n);
}
