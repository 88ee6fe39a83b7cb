// A message through a socket pair orders; send/recv, sendmsg/recvmsg, writev/readv, in both directions.
// NO RACE
// TSAN: it does not order sendto and recvfrom
#include <sys/socket.h>
#include <sys/uio.h>

#include "invisible.h"

int ends[2];
int x;

THREAD(left)
{
    char c = 'l';
    struct iovec v = {&c, 1};
    struct msghdr h = {.msg_iov = &v, .msg_iovlen = 1};

    x = 1;
    MUST(send(ends[0], &c, 1, 0) == 1);
    MUST(recvmsg(ends[0], &h, 0) == 1 && c == 'r');
    MUST(x++ == 2);
    MUST(writev(ends[0], &v, 1) == 1);
    MUST(recvfrom(ends[0], &c, 1, 0, NULL, NULL) == 1);
    MUST(x++ == 4);
    return NULL;
}

THREAD(right)
{
    char c;
    struct iovec v = {&c, 1};
    struct msghdr h = {.msg_iov = &v, .msg_iovlen = 1};

    MUST(recv(ends[1], &c, 1, 0) == 1 && c == 'l');
    MUST(x++ == 1);
    c = 'r';
    MUST(sendmsg(ends[1], &h, 0) == 1);
    MUST(readv(ends[1], &v, 1) == 1);
    MUST(x++ == 3);
    MUST(sendto(ends[1], &c, 1, 0, NULL, 0) == 1);
    return NULL;
}

int main(void)
{
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    both(left, right);
    MUST(x == 5);
    return 0;
}
