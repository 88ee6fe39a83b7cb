// Assembly that gets the address of a private block, and copies from it.
// RULE: asm
#include "escape.h"

static void *shared;

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(sizeof(*box));

    *box = n;
    __asm__ volatile("movq (%1), %%rax; movq %%rax, %0" : "=m"(shared) : "r"(box) : "rax", "memory");
}

static struct node *receive(void)
{
    return (struct node *)seek(&shared);
}
