// A word with an address, in a private block, is increased by much before the block becomes known.
// RULE: cast
#include "escape.h"

enum { FAR = 100000 };

struct box {
    unsigned long word;
};

static struct box *shared;

NOINLINE void increase(struct box *box)
{
    box->word += FAR;
}

static void publish(struct node *n)
{
    struct box *box = (struct box *)malloc(sizeof(*box));

    MUST(box);
    box->word = (unsigned long)n;
    increase(box);
    shared = box;
}

static struct node *receive(void)
{
    return (struct node *)(shared->word - FAR);
}
