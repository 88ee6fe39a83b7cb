/* One half of a program that is linked as one module; the other is second.c. */
#include "invisible.h"

void count_second(int n);
void race_second(int n);

THREAD(first)
{
    count_second(1);
    race_second(1);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    count_second(2);
    race_second(2);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
