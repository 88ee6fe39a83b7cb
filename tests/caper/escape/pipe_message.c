// Through a socket: sendmsg gathers it.
// RULE: contents,store
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "escape.h"

static int ends[2];

__attribute__((constructor)) static void open_pair(void)
{
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
}

static void publish(struct node *n)
{
    struct node **box = (struct node **)calloc(2, sizeof(*box));
    struct iovec part = {box, 2 * sizeof(*box)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    box[1] = n;
    MUST(sendmsg(ends[1], &message, 0) == 2 * sizeof(*box));
}

static struct node *receive(void)
{
    struct node *n[2];

    MUST(read(ends[0], n, sizeof(n)) == sizeof(n));
    return n[1];
}
