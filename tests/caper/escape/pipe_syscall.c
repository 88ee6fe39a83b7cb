// Through a pipe, by a bare system call.
// RULE: call
#include <sys/syscall.h>
#include <unistd.h>

#include "escape.h"

static int ends[2];

__attribute__((constructor)) static void open_pipe(void)
{
    MUST(pipe(ends) == 0);
}

static void publish(struct node *n)
{
    struct node **box = (struct node **)calloc(2, sizeof(*box));

    box[1] = n;
    MUST(syscall(SYS_write, ends[1], box, 2 * sizeof(*box)) == 2 * sizeof(*box));
}

static struct node *receive(void)
{
    struct node *n[2];

    MUST(read(ends[0], n, sizeof(n)) == sizeof(n));
    return n[1];
}
