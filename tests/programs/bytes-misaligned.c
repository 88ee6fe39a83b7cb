// An address without the alignment that its type promises: what counts is the bytes that the access touches.
// TSAN: it forgets the bytes in the next eight
#include "invisible.h"

static char s[64] __attribute__((aligned(16)));

/* x86 does it, and many programs rely on that. */
#define AT(type, offset) (*(volatile type *)(void *)(s + (offset)))

THREAD(first)
{
    AT(int, 1) = -1;    // RACE a:write
    AT(long, 13) = -1;  // RACE b:write
    use(AT(int, 30));   // RACE c:read
    AT(short, 43) = -1; // RACE d:write
    for (int i = 0; i < 2; i++)
        use(AT(long, 50)); // RACE e:read
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    s[0] = s[5] = 1;
    s[4] = 1; // RACE a:write
    s[12] = s[21] = 1;
    s[20] = 1; // RACE b:write
    s[29] = s[34] = 1;
    s[33] = 1; // RACE c:write
    s[42] = s[45] = 1;
    s[44] = 1; // RACE d:write
    s[49] = s[58] = 1;
    s[57] = 1; // RACE e:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
