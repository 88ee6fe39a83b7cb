// Such code calls a function of the program by its name, and keeps what that returns.
// RULE: return
// PLAIN: ask.c
#include "escape.h"

void *plain_get(void);
void plain_ask(void);
void *program_make(void);
static _Thread_local struct node *own;

void *program_make(void)
{
    return own;
}

static void publish(struct node *n)
{
    own = n;
    plain_ask();
}

static struct node *receive(void)
{
    return (struct node *)plain_get();
}
