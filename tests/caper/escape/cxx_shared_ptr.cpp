// A std::shared_ptr that is a variable.
// RULE: store
#include <memory>

#include "escape.h"

static std::shared_ptr<struct node> shared;

static void publish(struct node *n)
{
    shared = std::shared_ptr<struct node>(n, free);
}

static struct node *receive(void)
{
    return shared.get();
}
