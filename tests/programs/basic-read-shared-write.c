// Two readers share a variable, then a third thread writes: the readers are remembered, not only the last.
#include "invisible.h"

int x, y;

static void look(int *p)
{
    use(*p); // RACE a:read
}

THREAD(first)
{
    look(&x);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    look(&x);
    mark();
    return NULL;
}

THREAD(third)
{
    after(2);
    x = 3; // RACE a:write
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
