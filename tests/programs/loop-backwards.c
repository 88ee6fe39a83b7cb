// Loops that run down, by one and by more, from both ends of an array towards the middle: they meet and do
// not overlap, whatever the element.
// NO RACE
#include "invisible.h"

enum { SIZE = 101, MIDDLE = 51 };
static char bytes[SIZE];
static short shorts[SIZE];
static double doubles[SIZE];
static struct {
    int a, b;
} pairs[SIZE];

__attribute__((noinline)) static void down(int from, int to, int step)
{
    for (int i = from; i >= to; i -= step)
        bytes[i]++;
    for (unsigned i = from + 1; i-- > (unsigned)to;)
        shorts[i]++;
    for (double *p = doubles + from; p >= doubles + to; p -= step)
        *p += 1;
    for (long i = from; i > to; i -= 2) {
        pairs[i].a = 1;
        pairs[i - 1].b = 1;
    }
}

THREAD(upper)
{
    down(SIZE - 1, MIDDLE, 1);
    mark();
    return NULL;
}

THREAD(lower)
{
    after(1);
    down(MIDDLE - 1, 0, 3);
    return NULL;
}

int main(void)
{
    both(upper, lower);
    return 0;
}
