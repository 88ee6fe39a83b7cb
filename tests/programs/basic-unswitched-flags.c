// Conditions of a loop on what does not change in it are moved in front of the loop at -O3, and keep no line. The report
// names the loop.
// FLAGS: -O3
// TSAN: shows no line for what was moved
// STATIC: lines that the optimiser has taken away are found again by the pass alone; the source has them
#include "invisible.h"

int both_bits, other_bits, open, done;
char last;

static __attribute__((noinline)) int spin(void)
{
    int n = 0;

    while (!(both_bits & other_bits)) // RACE a:read b:read
        n++;
    return n;
}

static __attribute__((noinline)) int wait_for_any(void)
{
    int n = 0;

    while (!__atomic_load_n(&open, __ATOMIC_RELAXED) && !done && !last) // RACE c:read d:read
        n++;
    return n;
}

THREAD(reads)
{
    use(spin());
    use(wait_for_any());
    mark();
    return NULL;
}

THREAD(writes)
{
    after(1);
    both_bits = 1;  // RACE a:write
    other_bits = 1; // RACE b:write
    done = 1;       // RACE c:write
    last = 1;       // RACE d:write
    return NULL;
}

int main(void)
{
    both_bits = other_bits = last = rand() >= 0; // not known to the compiler; the loops end at once
    both(reads, writes);
    return 0;
}
