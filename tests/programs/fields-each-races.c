// Each of the members that are checked together races, with the line that touches it and no other.
#include "invisible.h"

struct mixed {
    long l;
    int i;
    short s;
    char c;
};
struct mixed global;

THREAD(first)
{
    struct mixed *p = &global;
    p->l = 1; // RACE l:write
    p->i = 2; // RACE i:write
    p->s = 3; // RACE s:write
    p->c = 4; // RACE c:write
    mark();
    return NULL;
}

THREAD(second)
{
    struct mixed *p = &global;
    after(1);
    char c = p->c; // RACE c:read
    p->s = c;      // RACE s:write
    long i = p->i; // RACE i:read
    p->l = i;      // RACE l:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
