// Both accesses of the race are made by the same line of code.
#include "invisible.h"

long count;

THREAD(worker)
{
    after(*(int *)arg);
    count++; // RACE a
    mark();
    return NULL;
}

int main(void)
{
    int zero = 0, one = 1;
    pthread_t a = spawn(worker, &zero), b = spawn(worker, &one);

    join(a);
    join(b);
    return 0;
}
