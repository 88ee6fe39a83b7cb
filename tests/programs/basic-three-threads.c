// Three threads, each pair racing on a variable of its own: three races, told apart.
#include "invisible.h"

int x, y, z;

THREAD(first)
{
    x = 1; // RACE a
    z = 1; // RACE c
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    x = 2; // RACE a
    y = 2; // RACE b
    mark();
    return NULL;
}

THREAD(third)
{
    after(2);
    y = 3; // RACE b
    z = 3; // RACE c
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(first, NULL), b = spawn(second, NULL), c = spawn(third, NULL);

    join(a);
    join(b);
    join(c);
    return 0;
}
