// A struct assignment reads every byte of its source and writes every byte of its target.
#include "invisible.h"

struct record {
    long id;
    char name[48];
    long sum;
} source, target[3];

THREAD(first)
{
    target[1] = source; // RACE a:read b:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    target[0].sum = 1;
    target[2].id = 2;
    source.name[47] = 'x';  // RACE a:write
    use(target[1].name[5]); // RACE b:read
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
