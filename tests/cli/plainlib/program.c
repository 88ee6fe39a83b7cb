/* program.c - two threads call a plain library, one after the other, in an order that no detector sees. What the library's lock
 * protects is ordered, and nothing else. */
#include "../../programs/invisible.h"

void library_call(int (*fn)(void));

int inside, outside;

static int count(void)
{
    return ++inside;
}

THREAD(first)
{
    library_call(count);
    outside = 1;
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    library_call(count);
    outside = 2;
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
