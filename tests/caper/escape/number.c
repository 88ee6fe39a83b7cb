// As a floating-point number: a pointer has few enough bits for one.
// RULE: cast
#include "escape.h"

static double shared;

static void publish(struct node *n)
{
    shared = (double)(uintptr_t)n;
}

static struct node *receive(void)
{
    return (struct node *)(uintptr_t)shared;
}
