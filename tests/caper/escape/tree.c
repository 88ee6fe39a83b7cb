// A leaf of a tree, whose root is stored.
// RULE: transitive
#include "escape.h"

struct tree {
    struct tree *left, *right;
    struct node *leaf;
};
static struct tree *shared;

NOINLINE struct tree *grow(int depth, struct node *leaf)
{
    struct tree *t = (struct tree *)calloc(1, sizeof(*t));

    if (depth > 0) {
        t->left = grow(depth - 1, NULL);
        t->right = grow(depth - 1, leaf);
    } else {
        t->leaf = leaf;
    }
    return t;
}

static void publish(struct node *n)
{
    shared = grow(10, n);
}

static struct node *receive(void)
{
    struct tree *t = shared;

    while (t->right)
        t = t->right;
    return t->leaf;
}
