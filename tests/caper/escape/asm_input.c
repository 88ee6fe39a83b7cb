// Assembly that reads a private variable and stores what it held.
// RULE: asm,store
#include "escape.h"

static void *shared;

static void publish(struct node *n)
{
    struct node *local = n;

    __asm__ volatile("movq %1, %%rax; movq %%rax, %0" : "=m"(shared) : "m"(local) : "rax");
}

static struct node *receive(void)
{
    return (struct node *)seek(&shared);
}
