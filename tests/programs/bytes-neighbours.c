// Adjacent characters written by two threads: no byte is shared.
// NO RACE
#include "invisible.h"

char text[16];

THREAD(even)
{
    for (int i = 0; i < 16; i += 2)
        text[i] = 'e';
    mark();
    after(2);
    for (int i = 0; i < 16; i += 2)
        MUST(text[i] == 'e');
    return NULL;
}

THREAD(odd)
{
    after(1);
    for (int i = 1; i < 16; i += 2)
        text[i] = 'o';
    mark();
    return NULL;
}

int main(void)
{
    both(even, odd);
    return 0;
}
