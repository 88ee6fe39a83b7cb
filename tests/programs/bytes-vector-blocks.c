// Accesses of 16 and 8 bytes that are aligned to 8 and 4 only, and so lie in two of the blocks by which the runtime
// notes where it has to look (16 KiB), and in two pieces of a plane (1 MiB). The second half is accessed there too.
// FLAGS: -fno-strict-aliasing
#include "invisible.h"

typedef long vector __attribute__((vector_size(16), aligned(8)));
typedef long loose __attribute__((aligned(4)));

enum { BLOCK = 1 << 14, PIECE = 1 << 20 };
static char s[PIECE * 2] __attribute__((aligned(PIECE)));

#define AT(type, offset) (*(volatile type *)(void *)(s + (offset)))

THREAD(first)
{
    vector v = AT(vector, BLOCK * 2 - 8); // RACE a:read
    use((int)(v[0] + v[1]));
    AT(vector, BLOCK * 4 - 8) = v;      // RACE b:write
    use((int)AT(loose, BLOCK * 6 - 4)); // RACE c:read
    use((int)AT(loose, PIECE - 4));     // RACE d:read
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    AT(long, BLOCK * 2) = 1; // RACE a:write
    AT(long, BLOCK * 4) = 1; // RACE b:write
    AT(int, BLOCK * 6) = 1;  // RACE c:write
    AT(int, PIECE) = 1;      // RACE d:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
