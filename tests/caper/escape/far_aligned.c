// A pointer that was aligned down, without becoming a number, and the distance from there.
// RULE: cast
#include "escape.h"

static char *page;
static unsigned short offset;

static void publish(struct node *n)
{
    page = __builtin_align_down((char *)n, 4096);
    offset = (unsigned short)((char *)n - page);
}

static struct node *receive(void)
{
    return (struct node *)(page + offset);
}
