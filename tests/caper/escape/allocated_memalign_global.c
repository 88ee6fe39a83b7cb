// posix_memalign itself stores the pointer where others can reach it.
// RULE: link
#define OWN_FRAME
#define NO_PRIVATE
#include "escape.h"

static void *shared;

NOINLINE struct node *make(void)
{
    MUST(posix_memalign(&shared, 64, sizeof(struct node)) == 0);
    return (struct node *)shared;
}

THREAD(owner)
{
    struct node *n = make();

    prepare(n);
    mark();
    n->value = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    after(1);
    MUST(((struct node *)shared)->seal == SEAL); // ESCAPED
    ((struct node *)shared)->value = 3;          // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
