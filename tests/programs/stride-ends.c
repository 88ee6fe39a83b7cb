// What a loop with a step touches ends where it ends: backwards, with neighbours on both sides, and where it is left early.
// FLAGS: -O2
#include "invisible.h"

double a[100], b[100], c[200];
struct {
    int key, value;
} table[100];
int first_index = 20, last_index = 80;

THREAD(first)
{
    int i;

    for (i = last_index; i >= first_index; i -= 2)
        a[i] = i; // RACE a:write d:write
    for (i = first_index + 1; i < last_index; i += 2)
        b[i] = c[i - 1] + c[i + 1]; // RACE b:read e:read
    table[50].key = 1;
    for (i = 0; i < last_index; i++)
        if (table[i].key) // RACE c:read
            break;
    use(i);
    mark();
    return NULL;
}

THREAD(second)
{
    volatile double *p = a, *q = c; /* so that stores stay apart */

    after(1);
    p[18] = 1;
    p[19] = 1;
    p[21] = 1;
    p[82] = 1;
    p[20] = 2; // RACE a:write
    p[80] = 2; // RACE d:write
    q[18] = 1;
    q[21] = 1;
    q[79] = 1;
    q[82] = 1;
    q[20] = 2; // RACE b:write
    q[80] = 2; // RACE e:write
    for (int i = 0; i < 100; i++)
        table[i].value = 1;
    table[51].key = 1;
    table[49].key = 2; // RACE c:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
