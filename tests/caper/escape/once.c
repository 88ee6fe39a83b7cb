// The function of pthread_once stores it.
// RULE: store
#include "escape.h"

static struct node *shared;
static _Thread_local struct node *own;

static void first_time(void)
{
    shared = own;
}

static void publish(struct node *n)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    own = n;
    pthread_once(&once, first_time);
}

static struct node *receive(void)
{
    return shared;
}
