// The same with halves that meet in one element: found in the loop, on its line.
// FLAGS: -O2
#include "invisible.h"

int a[200];
volatile int middle = 100;

THREAD(left)
{
    int end = middle + 1;

    for (int i = 0; i < end; i++)
        a[i] = i; // RACE a:write
    mark();
    return NULL;
}

THREAD(right)
{
    int from = middle;
    long sum = 0;

    after(1);
    for (int i = from; i < 200; i++)
        sum += a[i]; // RACE a:read
    use(sum);
    return NULL;
}

int main(void)
{
    both(left, right);
    return 0;
}
