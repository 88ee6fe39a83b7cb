// A loop touches three of the fields of every element, another thread the others, and one field of one element that is the
// first thread's.
// FLAGS: -O2
#include "invisible.h"

struct particle {
    double x, y, z;
    int cell, id;
} all[100];
int count = 100;

__attribute__((noinline)) static void move(double by)
{
    for (int i = 0; i < count; i++)
        all[i].x += by * all[i].y + all[i].z; // RACE a:read
}

__attribute__((noinline)) static void sort(void)
{
    for (int i = 0; i < count; i++)
        all[i].cell = all[i].id * 3;
}

THREAD(first)
{
    move(0.5);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    sort();
    all[99].y = 1; // RACE a:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
