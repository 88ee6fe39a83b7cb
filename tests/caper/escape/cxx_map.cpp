// A std::map: code of the C++ library links its nodes.
// RULE: link,store
#include <map>

#include "escape.h"

static std::map<long, struct node *> shared;

static void publish(struct node *n)
{
    shared.emplace(unknown(7), n);
}

static struct node *receive(void)
{
    return shared.begin()->second;
}
