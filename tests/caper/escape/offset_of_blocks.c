// As the number of grains from a block that others can reach, in 4 bytes.
// RULE: cast
#include "escape.h"

static char *base;
static int shared;

static void publish(struct node *n)
{
    base = (char *)malloc(100);
    shared = (int)(((char *)n - base) / 16);
}

static struct node *receive(void)
{
    return (struct node *)(base + shared * 16L);
}
