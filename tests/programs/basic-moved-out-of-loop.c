// The optimiser reads `total` before the loop and writes it after. What it has moved has no line of its own in the
// debug information; the report names the line that was written.
// FLAGS: -O2
// TSAN: shows no line for what was moved
#include "invisible.h"

long total;
int values[100];

static __attribute__((noinline)) void add(void)
{
    for (int i = 0; i < 100; i++)
        if (values[i] >= 0)
            total += values[i]; // RACE a
}

THREAD(first)
{
    add();
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    add();
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
