// What decides is whether the first of two accesses was made in a sampling period; the second is looked at in any case.
// OPTIONS: sample=0%
// TSAN: it does not sample
#include <stdbool.h>
#include <stdint.h>

#include "invisible.h"

extern void dh_period_turn(bool on);

int written, read_only, outside, outside_read;
uint64_t wide;
char bytes[8];

THREAD(first)
{
    outside = 1; // before the period: not recorded
    use(outside_read);
    dh_period_turn(true);
    written = 1;    // RACE a:write b:write
    use(read_only); // RACE c:read
    wide = 1;       // RACE d:write
    bytes[5] = 1;   // RACE e:write
    dh_period_turn(false);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    use(written);    // RACE a:read
    written = 2;     // RACE b:write
    read_only = 2;   // RACE c:write
    use((long)wide); // RACE d:read
    use(bytes[4]);   // another byte of the same word
    bytes[5] = 2;    // RACE e:write
    outside = 2;
    outside_read = 2;
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
