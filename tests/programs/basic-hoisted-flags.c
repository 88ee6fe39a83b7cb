// Loads that the optimiser has merged or moved have no line of their own in the debug information; the report names the line that
// was made of them: the condition of a loop on two flags, and the statement of a loop that reads what does not change in it.
// TSAN: shows no line for what was moved
// STATIC: lines that the optimiser has taken away are found again by the pass alone; the source has them
#include "invisible.h"

int one, two, step, width;
long sums[100];

static __attribute__((noinline)) int spin(void)
{
    int n = 0;

    while (!one && !two) // RACE a:read b:read
        n++;
    return n;
}

static __attribute__((noinline)) void add(void)
{
    for (int i = 0; i < 100; i++)
        if (i % 3)
            sums[i] += step * width; // RACE c:read d:read
}

THREAD(reads)
{
    use(spin());
    add();
    mark();
    return NULL;
}

THREAD(writes)
{
    after(1);
    one = 1;   // RACE a:write
    two = 1;   // RACE b:write
    step = 1;  // RACE c:write
    width = 1; // RACE d:write
    return NULL;
}

int main(void)
{
    two = rand() >= 0; // not known to the compiler; the loop ends at once
    both(reads, writes);
    return 0;
}
