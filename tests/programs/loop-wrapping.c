// Index arithmetic that wraps: the loop touches the last elements and the first, and not those between.
// NO RACE
// FLAGS: -O2
#include "invisible.h"

int ring[64];
volatile unsigned start = 60;

THREAD(wrapper)
{
    unsigned from = start;

    for (unsigned i = 0; i < 8; i++)
        ring[(from + i) % 64]++;
    for (unsigned char k = 250; k != 4; k++)
        ring[k % 64 == 63 ? 63 : 0]++;
    mark();
    return NULL;
}

THREAD(writer)
{
    after(1);
    for (int i = 4; i < 60; i++)
        ring[i] = i;
    return NULL;
}

int main(void)
{
    both(wrapper, writer);
    return 0;
}
