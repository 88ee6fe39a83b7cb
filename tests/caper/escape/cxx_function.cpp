// What a std::function has captured.
// RULE: store,call,vector,copy
#include <functional>

#include "escape.h"

static std::function<struct node *()> shared;

static void publish(struct node *n)
{
    long many[4] = {unknown(1)}; // too large for the function itself

    shared = [many, n] { return many[0] ? n : nullptr; };
}

static struct node *receive(void)
{
    return shared();
}
