// Creating orders what came before it, joining what comes after; results travel through join.
// NO RACE
#include "invisible.h"

int in, out;

THREAD(child)
{
    MUST(in == 1);
    out = in + 1;
    in = 5;
    return &out;
}

int main(void)
{
    int *result;

    in = 1;
    result = join(spawn(child, NULL));
    MUST(*result == 2 && in == 5);
    out = 0;
    return 0;
}
