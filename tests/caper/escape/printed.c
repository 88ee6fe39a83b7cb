// Printed into a variable as an address, and scanned again.
// RULE: call
#include <stdio.h>

#include "escape.h"

static char shared[40];

static void publish(struct node *n)
{
    MUST(snprintf(shared, sizeof(shared), "%3d%% of %s at %p", 7, "memory", (void *)n) > 0);
}

static struct node *receive(void)
{
    void *n = NULL;

    MUST(sscanf(shared, "%*d%% of memory at %p", &n) == 1);
    return (struct node *)n;
}
