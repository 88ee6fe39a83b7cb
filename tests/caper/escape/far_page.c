// A pointer to the beginning of the page, and where in the page, in a private block that is stored afterwards.
// RULE: cast
#include "escape.h"

struct segment {
    char *page;
    unsigned short offset;
};
static struct segment *shared;

static void publish(struct node *n)
{
    struct segment *s = (struct segment *)malloc(sizeof(*s));

    MUST(s);
    s->page = (char *)((uintptr_t)n & ~(uintptr_t)4095);
    s->offset = (uintptr_t)n & 4095;
    shared = s;
}

static struct node *receive(void)
{
    return (struct node *)(shared->page + shared->offset);
}
