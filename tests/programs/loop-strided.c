// Even and odd elements, and the two fields of an array of structs, each with a thread of its own.
// NO RACE
// FLAGS: -O2
#include "invisible.h"

int a[200];
struct {
    int left, right;
} pairs[100];

THREAD(even)
{
    for (int i = 0; i < 200; i += 2)
        a[i] = i;
    for (int i = 0; i < 100; i++)
        pairs[i].left = i;
    mark();
    after(2);
    return NULL;
}

THREAD(odd)
{
    after(1);
    for (int i = 199; i > 0; i -= 2)
        a[i] = i;
    for (int i = 0; i < 100; i++)
        pairs[i].right = -i;
    mark();
    return NULL;
}

int main(void)
{
    both(even, odd);
    return 0;
}
