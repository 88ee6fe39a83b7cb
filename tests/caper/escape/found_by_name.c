// A function that dlsym has found keeps it.
// RULE: indirect
// LIB: keep.c
#include <dlfcn.h>

#include "escape.h"

void *plain_get(int i);

static void publish(struct node *n)
{
    void (*keep)(int, void *);

    *(void **)&keep = dlsym(RTLD_DEFAULT, "plain_keep");
    MUST(keep);
    keep(3, n);
}

static struct node *receive(void)
{
    return (struct node *)plain_get(3);
}
