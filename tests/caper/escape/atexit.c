// on_exit keeps its argument; the handler may be called by any thread that exits.
// RULE: call
#define OWN_FRAME
#include "escape.h"

static void handler(int status, void *arg)
{
    struct node *n = (struct node *)arg;

    (void)status;
    MUST(n->seal == SEAL);
    n->value = 3; // ESCAPED
}

THREAD(owner)
{
    struct node *n = fresh();

    on_exit(handler, n);
    mark();
    n->value = 2; // ESCAPED
    after(2);     /* for ever: the process exits */
    return NULL;
}

int main(void)
{
    spawn(owner, NULL);
    after(1);
    exit(0);
}
