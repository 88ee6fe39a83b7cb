// An object placed in a pool that is a variable.
// RULE: store
#include <new>

#include "escape.h"

struct holder {
    struct node *node;
    explicit holder(struct node *n) : node(n)
    {
    }
};
alignas(holder) static char pool[16 * sizeof(holder)];

static void publish(struct node *n)
{
    new (pool + unknown(3) * (long)sizeof(holder)) holder(n);
}

static struct node *receive(void)
{
    return reinterpret_cast<holder *>(pool + 3 * sizeof(holder))->node;
}
