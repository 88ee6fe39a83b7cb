// A signal handler of the same thread stores it.
#include <signal.h>

#include "escape.h"

static struct node *shared;
static _Thread_local struct node *volatile own;

static void handler(int signo)
{
    (void)signo;
    shared = own;
}

static void publish(struct node *n)
{
    own = n;
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
}

static struct node *receive(void)
{
    return shared;
}
