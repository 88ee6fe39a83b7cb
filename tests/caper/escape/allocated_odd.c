// RULE: transitive
// Blocks that do not end with a grain of 16 bytes: a pointer in their last word. Allocators other than glibc's may have another block
// there.
#define OWN_FRAME
#include <stdlib.h>

#include "escape.h"

struct odd {
    long pad[2];
    struct node *held; // behind the last whole grain
};
struct small {
    struct node *held; // with no whole grain at all
};

static struct odd *shared;
static struct small *shared_small;

NOINLINE struct odd *odd(struct node *n)
{
    struct odd *o = (struct odd *)malloc(sizeof(*o));

    MUST(o);
    o->held = n;
    return o;
}

NOINLINE struct small *small(struct node *n)
{
    struct small *s = (struct small *)malloc(sizeof(*s));

    MUST(s);
    s->held = n;
    return s;
}

THREAD(owner)
{
    struct node *n = fresh(), *m = fresh();
    struct odd *o = odd(n);
    struct small *s = small(m);

    shared = o;
    shared_small = s;
    mark();
    n->value = 2; // ESCAPED
    m->value = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    after(1);
    MUST(shared->held->seal == SEAL);       // ESCAPED
    MUST(shared_small->held->seal == SEAL); // ESCAPED
    shared->held->value = 3;                // ESCAPED
    shared_small->held->value = 3;          // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
