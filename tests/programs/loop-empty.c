// A loop that does not run touches nothing, whatever its bounds would say.
// NO RACE
// FLAGS: -O2
#include "invisible.h"

int a[64];
volatile int none, negative = -5;

THREAD(idle)
{
    int n = none, m = negative;

    for (int i = 0; i < n; i++)
        a[i] = i;
    for (int i = 10; i < m; i++)
        a[i]++;
    for (int i = n; i > 10; i--)
        a[i] = 0;
    mark();
    return NULL;
}

THREAD(writer)
{
    after(1);
    for (int i = 0; i < 64; i++)
        a[i] = i;
    return NULL;
}

int main(void)
{
    both(idle, writer);
    return 0;
}
