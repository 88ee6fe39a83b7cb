// A two-byte write and a one-byte read that overlap in one byte only.
#include "invisible.h"

union {
    unsigned short pair[4];
    unsigned char single[8];
} u;

THREAD(first)
{
    u.pair[1] = 0x1234; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    use(u.single[1]);
    use(u.single[3]); // RACE a:read
    use(u.single[4]);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
