// Memory that the program maps itself counts as escaped.
#define OWN_FRAME
#define NO_PRIVATE
#include <sys/mman.h>

#include "escape.h"

static struct node *shared;

NOINLINE struct node *make(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    MUST(p != MAP_FAILED);
    return (struct node *)p;
}

THREAD(owner)
{
    struct node *n = make();

    prepare(n);
    shared = n;
    mark();
    n->value = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    after(1);
    MUST(shared->seal == SEAL); // ESCAPED
    shared->value = 3;          // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
