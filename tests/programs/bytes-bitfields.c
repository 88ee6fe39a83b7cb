// Two bit-fields in one storage unit: writing one rewrites the other.
#include "invisible.h"

struct {
    unsigned a : 3;
    unsigned b : 5;
} s;

THREAD(first)
{
    s.a = 1; // RACE a
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    s.b = 2; // RACE a
    return NULL;
}

int main(void)
{
    both(first, second);
    return s.a == 1 && s.b == 2 ? 0 : 1;
}
