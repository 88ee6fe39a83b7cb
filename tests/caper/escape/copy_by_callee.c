// By a local variable and a thread-local one, which only their thread knows, copied by functions that may be given any memory.
// RULE: copy
#include "escape.h"

struct box {
    long before;
    struct node *node;
    long behind[30];
};
static _Thread_local struct box mine;
static struct box between, shared;

NOINLINE void copy(struct box *to, const struct box *from, long n)
{
    memcpy(to, from, (size_t)n);
}

static void publish(struct node *n)
{
    struct box box = {.before = unknown(1)};

    box.node = n;
    copy(&mine, &box, unknown(sizeof(mine)));
    copy(&between, &mine, unknown(sizeof(between)));
    copy(&shared, &between, unknown(sizeof(shared)));
}

static struct node *receive(void)
{
    return shared.node;
}
