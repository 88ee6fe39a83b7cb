// A 16-byte compare-exchange synchronises like any other.
// NO RACE
// FLAGS: -mcx16
#include "invisible.h"

typedef unsigned __int128 wide;

_Alignas(16) wide word;
int data;

THREAD(producer)
{
    wide old = 0;

    data = 42;
    while (!__sync_bool_compare_and_swap(&word, old, (wide)1 << 64 | 1))
        ;
    return NULL;
}

THREAD(consumer)
{
    while (!__sync_bool_compare_and_swap(&word, (wide)1 << 64 | 1, 2))
        ;
    MUST(data == 42);
    data = 0;
    return NULL;
}

int main(void)
{
    both(producer, consumer);
    return 0;
}
