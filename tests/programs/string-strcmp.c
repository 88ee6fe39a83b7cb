// strcmp, memcmp, strchr and their like read what they compare, as far as they must.
// FLAGS: -fno-builtin
#include <string.h>

#include "invisible.h"

char a[16] = "abcdef", b[16] = "abcdef", c[16] = "xyz", d[16] = "needle";

THREAD(first)
{
    use(strcmp(a, "abx"));        // RACE a:read
    use(memcmp(b, "abcdef", 6));  // RACE b:read
    use(strchr(c, 'y') == c + 1); // RACE c:read
    use(strncmp(d, "needle", 3)); // RACE d:read
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    a[2] = 'z'; // RACE a:write
    b[5] = 'z'; // RACE b:write
    c[0] = 'z'; // RACE c:write
    d[3] = 'z';
    d[1] = 'z'; // RACE d:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
