// The page that the pointer is in, and where in the page.
// RULE: cast
#include "escape.h"

static uintptr_t page;
static unsigned offset;

static void publish(struct node *n)
{
    page = (uintptr_t)n & ~(uintptr_t)4095;
    offset = (uintptr_t)n & 4095;
}

static struct node *receive(void)
{
    return (struct node *)(page + offset);
}
