// A std::vector of std::unique_ptr, moved into a variable.
// RULE: store
#include <memory>
#include <vector>

#include "escape.h"

struct release {
    void operator()(struct node *n) const
    {
        free(n);
    }
};
static std::vector<std::unique_ptr<struct node, release>> shared;

static void publish(struct node *n)
{
    std::vector<std::unique_ptr<struct node, release>> own;

    for (int i = 0; i < 20; i++)
        own.emplace_back(nullptr);
    own.emplace_back(n);
    shared = std::move(own);
}

static struct node *receive(void)
{
    return shared.back().get();
}
