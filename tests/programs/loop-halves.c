// Two threads sweep the two halves of an array of every element size.
// NO RACE
// FLAGS: -O2
#include "invisible.h"

char c[200];
short s[200];
int i4[200];
double d[200];

static void sweep(int from, int to)
{
    for (int i = from; i < to; i++)
        c[i] = (char)i;
    for (int i = from; i < to; i++)
        s[i] = (short)(c[i] + 1);
    for (int i = from; i < to; i++)
        i4[i] = s[i] * 2;
    for (int i = to - 1; i >= from; i--)
        d[i] = i4[i];
}

THREAD(left)
{
    sweep(0, 99);
    mark();
    after(2);
    sweep(0, 99);
    return NULL;
}

THREAD(right)
{
    after(1);
    sweep(99, 200);
    mark();
    return NULL;
}

int main(void)
{
    both(left, right);
    return 0;
}
