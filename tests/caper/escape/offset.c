// As the distance from a variable, in 8 bytes.
// RULE: cast
#include "escape.h"

static char base[16];
static long shared;

static void publish(struct node *n)
{
    shared = (char *)n - base;
}

static struct node *receive(void)
{
    return (struct node *)(base + shared);
}
