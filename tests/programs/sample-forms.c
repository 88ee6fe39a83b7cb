// Every form of access, first inside a sampling period, then outside: ranges, loops with and without gaps, atomics,
// memory that is freed.
// FLAGS: -O2
// OPTIONS: sample=0%
// TSAN: it does not sample
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "invisible.h"

extern void dh_period_turn(bool on);

enum { N = 4096 };
char filled[N], copied[N], own[N];
int summed[N], column[64][64];
_Atomic int counter;
int plain_later;
int *freed;

__attribute__((noinline)) static int sum(const int *p, int n, int step)
{
    int all = 0;
    for (int i = 0; i < n; i++)
        all += p[i * step]; // RACE c:read
    return all;
}

__attribute__((noinline)) static void fill(int *p, int n, int step)
{
    for (int i = 0; i < n; i++)
        p[i * step] = i; // RACE c:write
}

THREAD(first)
{
    dh_period_turn(true);
    memset(filled, 1, N);   // RACE a
    memcpy(own, copied, N); // RACE b
    use(sum(summed, N, 1));
    use(sum(&column[0][3], 64, 64));
    atomic_store_explicit(&counter, 1, memory_order_relaxed);                // RACE e
    atomic_load_explicit((_Atomic int *)&plain_later, memory_order_relaxed); // RACE f
    use(freed[5]);                                                           // RACE g
    dh_period_turn(false);
    mark();
    return NULL;
}

THREAD(second)
{
    char mine[8];
    after(1);
    memcpy(mine, filled + 100, 8); // RACE a
    use(mine[0]);
    memset(copied + 100, 1, 800); // RACE b
    fill(summed + 10, 900, 1);
    column[2][2] = 1; // not in the column
    fill(&column[0][3], 64, 64);
    *(int *)&counter = 2; // RACE e
    plain_later = 2;      // RACE f
    free(freed);          // RACE g
    return NULL;
}

int main(void)
{
    freed = malloc(400);
    both(first, second);
    return 0;
}
