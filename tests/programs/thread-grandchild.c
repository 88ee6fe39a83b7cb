// Order is transitive: a grandchild's work is before what follows the join of the child.
// NO RACE
#include "invisible.h"

int x;

THREAD(grandchild)
{
    x++;
    return NULL;
}

THREAD(child)
{
    x++;
    join(spawn(grandchild, NULL));
    x++;
    return NULL;
}

int main(void)
{
    x = 1;
    join(spawn(child, NULL));
    MUST(x == 4);
    return 0;
}
