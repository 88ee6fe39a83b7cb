// The default order, through plain use of _Atomic variables.
// NO RACE
#include "invisible.h"

_Atomic int flag;
int data;

THREAD(producer)
{
    data = 42;
    flag = 1;
    return NULL;
}

THREAD(consumer)
{
    while (!flag)
        ;
    MUST(data == 42);
    return NULL;
}

int main(void)
{
    both(producer, consumer);
    return 0;
}
