// The pointer as an index of bytes, from a variable on.
// RULE: cast
#include "escape.h"

static char base[16];
static char *shared;

static void publish(struct node *n)
{
    shared = base + (uintptr_t)n;
}

static struct node *receive(void)
{
    return (struct node *)(uintptr_t)(shared - base);
}
