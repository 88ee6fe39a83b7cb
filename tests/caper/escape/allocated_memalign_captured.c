// posix_memalign stores the pointer into a local variable that another thread knows.
// RULE: link
#define OWN_FRAME
#define NO_PRIVATE
#include "escape.h"

static void **shared;

THREAD(owner)
{
    void *place = NULL;
    struct node *n;

    shared = &place;
    MUST(posix_memalign(&place, 64, sizeof(*n)) == 0);
    n = (struct node *)place;
    possibly(n);
    prepare(n);
    mark();
    n->value = 2; // ESCAPED
    after(2);
    return NULL;
}

THREAD(other)
{
    after(1);
    perhaps((struct node *)*shared)->value = 3; // ESCAPED
    mark();
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
