// A std::any that is a variable, with more in it than fits into it.
// RULE: store,copy,vector
#include <any>

#include "escape.h"

struct box {
    long many[4];
    struct node *node;
};
static std::any shared;

static void publish(struct node *n)
{
    shared = box{{unknown(1)}, n};
}

static struct node *receive(void)
{
    return std::any_cast<box &>(shared).node;
}
