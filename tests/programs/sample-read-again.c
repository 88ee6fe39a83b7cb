// Outside a sampling period, data that was read or written in one is read again and again. That must hide nothing from
// whoever writes it later.
// OPTIONS: sample=0%
// TSAN: it does not sample
#include <stdbool.h>
#include <stdint.h>

#include "invisible.h"

extern void dh_period_turn(bool on);

int read_by_both, written, column[64][4];
uint64_t wide_read;

static void read_all(void)
{
    for (int i = 0; i < 4; i++) {
        use(*(volatile int *)&read_by_both);
        use((long)*(volatile uint64_t *)&wide_read);
        use(*(volatile int *)&written);
        for (int k = 0; k < 64; k++)
            use(((volatile int(*)[4])column)[k][1]);
    }
}

THREAD(first)
{
    dh_period_turn(true);
    written = 1; // RACE c:write
    use(read_by_both);
    use((long)wide_read);
    use(column[7][1]);
    mark();
    after(2);
    dh_period_turn(false);
    read_all();
    read_by_both = 1; // RACE a:write
    wide_read = 1;    // RACE b:write
    column[7][1] = 1; // RACE d:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    use(read_by_both);    // RACE a:read
    use((long)wide_read); // RACE b:read
    use(column[7][1]);    // RACE d:read
    mark();
    after(3);
    written = 2; // RACE c:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
