// The kernel copies it, from a private block: process_vm_writev of the process itself.
// RULE: call
#include <sys/uio.h>
#include <unistd.h>

#include "escape.h"

static struct node *shared[2];

static void publish(struct node *n)
{
    struct node **box = (struct node **)malloc(sizeof(*box));
    struct iovec *from = (struct iovec *)calloc(1, sizeof(*from)), to = {&shared[1], sizeof(*box)};

    *box = n;
    *from = (struct iovec){box, sizeof(*box)};
    MUST(process_vm_writev(getpid(), from, 1, &to, 1, 0) == sizeof(*box));
}

static struct node *receive(void)
{
    return shared[1];
}
