// A comparison of few bytes, which the compiler turns into loads: there is no call for an interceptor to see.
// FLAGS: -O2
#include <string.h>

#include "invisible.h"

char key[8] = "abcdefg", other[8];

THREAD(writer)
{
    key[5] = 'x'; // RACE a:write
    mark();
    return NULL;
}

THREAD(reader)
{
    after(1);
    use(memcmp(key, other, sizeof key)); // RACE a:read
    return NULL;
}

int main(void)
{
    both(writer, reader);
    return 0;
}
