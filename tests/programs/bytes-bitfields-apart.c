// Bit-fields separated by a zero-width one lie in memory locations of their own (C11 3.14).
// NO RACE
#include "invisible.h"

struct {
    unsigned a : 3;
    unsigned : 0;
    unsigned b : 5;
} s;

THREAD(first)
{
    s.a = 1;
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    s.b = 2;
    return NULL;
}

int main(void)
{
    both(first, second);
    return s.a == 1 && s.b == 2 ? 0 : 1;
}
