/* Windows pass over calls of functions in another file, callees.c, once both are one module. */
#include "invisible.h"

int shared;
void stir(int x);
int look(int x);

__attribute__((noinline)) static int over_quiet(volatile int *p)
{
    int x = *p;
    return look(x) + *p;
}

__attribute__((noinline)) static int over_sync(volatile int *p)
{
    int x = *p;
    stir(x);
    return x + *p;
}

THREAD(first)
{
    use(over_quiet(&shared) + over_sync(&shared));
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    shared = 1;
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
