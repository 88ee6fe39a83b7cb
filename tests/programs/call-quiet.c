// Calls that cannot synchronise stand between the accesses. The first check stands for all of them, and the race is
// told once, at its line; what the calls do themselves is told, too.
// FLAGS: -O2
#include "invisible.h"

int x, sum, table[100];

__attribute__((noinline)) static void note(int i)
{
    table[i] = i; // RACE b:write
}

__attribute__((noinline)) static void add(int n)
{
    for (int i = 0; i < n; i++)
        sum += table[i];
}

THREAD(first)
{
    *(volatile int *)&x = 1; // RACE a:write
    note(7);
    add(7);
    use(*(volatile int *)&x);
    *(volatile int *)&x = 2;
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    x = 3;        // RACE a:write
    table[7] = 4; // RACE b:write
    return NULL;
}

int main(void)
{
    both(first, second);
    use(sum);
    return 0;
}
