// A cleanup handler, called because the thread is cancelled, stores it.
#define OWN_FRAME
#include "escape.h"

static struct node *shared;

static void handler(void *arg)
{
    struct node *n = (struct node *)arg;

    shared = n;
    mark();
    n->value = 2; // ESCAPED
}

THREAD(owner)
{
    struct node *n = fresh();

    pthread_cleanup_push(handler, n);
    pthread_cancel(pthread_self());
    pthread_testcancel();
    pthread_cleanup_pop(0);
    return NULL;
}

THREAD(other)
{
    after(1);
    MUST(shared->seal == SEAL); // ESCAPED
    shared->value = 3;          // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
