// sscanf reads its string.
// TSAN: it does not look at the string
#include <stdio.h>

#include "invisible.h"

char input[32] = "12";

THREAD(first)
{
    int n;

    MUST(sscanf(input, "%d", &n) == 1); // RACE a:read
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    input[3] = 1;
    input[1] = '3'; // RACE a:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
