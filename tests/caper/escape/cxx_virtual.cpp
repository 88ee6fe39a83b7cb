// A virtual function stores it.
// RULE: store

#include "escape.h"

static struct node *shared;

struct keeper {
    virtual void keep(struct node *n)
    {
        n->more = 1;
    }
    virtual ~keeper()
    {
    }
};
struct sharer : keeper {
    void keep(struct node *n) override
    {
        shared = n;
    }
};
static keeper *volatile chosen;

static void publish(struct node *n)
{
    chosen = unknown(1) ? new sharer : new keeper;
    chosen->keep(n);
}

static struct node *receive(void)
{
    return shared;
}
