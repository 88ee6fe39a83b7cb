// Outside a sampling period, a write that is ordered after a sampled access drops it, and so does a read that is
// ordered after a sampled read. Whoever races with the sampled access then races with the later one, which was not
// sampled. A read after a sampled write drops nothing: another read may race with that write and not with this read.
// OPTIONS: sample=0%
// TSAN: it does not sample
#include <stdbool.h>

#include "invisible.h"

extern void dh_period_turn(bool on);

int overwritten, read_again, read_then, kept;
char half[4];

THREAD(first)
{
    dh_period_turn(true);
    overwritten = 1;
    use(read_again);
    read_then = 1; // RACE a:write
    kept = 1;      // RACE b:write
    half[0] = 1;
    half[1] = 1; // RACE c:write
    dh_period_turn(false);
    overwritten = 2;
    use(read_again);
    use(read_then);
    half[0] = 2;
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    use(overwritten);
    read_again = 2;
    use(read_then); // RACE a:read
    kept = 2;       // RACE b:write
    half[0] = 3;
    use(half[1]); // RACE c:read
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
