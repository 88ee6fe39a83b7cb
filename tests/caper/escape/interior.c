// A pointer into the middle of a large block; the other goes back to its beginning.
// RULE: interior
#define OWN_FRAME
#include "escape.h"

enum { LONG = 100000 };
static long *middle;

NOINLINE long *make(void)
{
    long *all = (long *)malloc(LONG * sizeof(*all));

    MUST(all);
    all[0] = 1; // PRIVATE
    return all;
}

THREAD(owner)
{
    long *all = make();

    middle = all + unknown(LONG / 2 + 12345);
    mark();
    all[0] = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    after(1);
    middle[-unknown(LONG / 2 + 12345)] = 3;           // ESCAPED
    middle[LONG - 1 - unknown(LONG / 2 + 12345)] = 4; // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
