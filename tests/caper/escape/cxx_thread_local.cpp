// A thread-local object whose constructor allocates, and whose destructor stores what it is given. The static analysis has to see
// both: there is no other way.
// RULE: store
#define OWN_FRAME
#include "escape.h"

static struct node *volatile shared;

struct holder {
    struct node **slot = new struct node *(nullptr);

    ~holder()
    {
        struct node *n = *slot;

        shared = n;
        mark();
        n->value = 2; // ESCAPED
    }
};
static thread_local holder mine;

THREAD(owner)
{
    *mine.slot = fresh();
    return nullptr;
}

THREAD(other)
{
    after(1);
    shared->value = 3; // ESCAPED
    return nullptr;
}

int main()
{
    both(owner, other);
    return 0;
}
