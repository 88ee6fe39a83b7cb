// A counter that the optimiser keeps in a register during a loop is accessed where the program does, and nowhere else: not if
// its condition never holds, and not if the loop is not entered.
// TSAN: reads the counter before the loop, whatever happens in it
#include "invisible.h"

int counted[8] = {1, 0, 1, 1, 0, 0, 1, 0}, none[8];
int hits, total, most, all;
struct {
    int even, odd;
} sums;

static __attribute__((noinline)) void count(const int *what, int n)
{
    for (int i = 0; i < n; i++)
        if (what[i])
            hits++;
}

static __attribute__((noinline)) void choose(const int *what, int n)
{
    for (int i = 0; i < n; i++) {
        if (what[i] == 1)
            sums.odd++;
        else if (what[i] == 2)
            sums.even++;
    }
}

static __attribute__((noinline)) void add(const int *what, int n)
{
    for (int i = 0; i < n; i++)
        total += what[i];
}

static __attribute__((noinline)) void leave(const int *what, int n)
{
    for (int i = 0; i < n; i++) {
        if (!what[i])
            break;
        most++;
    }
}

static __attribute__((noinline)) void sum(const int *what, int n)
{
    for (int i = 0; i < n; i++)
        all += what[i]; // RACE a:write
}

THREAD(counts)
{
    count(counted, 8);
    choose(counted, 8);
    add(counted, 8);
    leave(counted, 8);
    sum(counted, 8);
    mark();
    return NULL;
}

THREAD(does_not)
{
    after(1);
    count(none, 8);
    choose(none, 8);
    add(counted, 0);
    leave(none, 8);
    all = 0; // RACE a:write
    return NULL;
}

int main(void)
{
    both(counts, does_not);
    return 0;
}
