// Datagrams between sockets with names, UDP and Unix, one by one and several in a call, hand over like a
// stream does.
// NO RACE
// FLAGS: -D_GNU_SOURCE
// TSAN: it does not order sendto and recvfrom
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "invisible.h"

static int ends[2][2], data[2], many[2];
static struct sockaddr_storage names[2];
static socklen_t lengths[2];

static void make(int which, const struct sockaddr *name, socklen_t n)
{
    for (int i = 0; i < 2; i++)
        MUST((ends[which][i] = socket(name->sa_family, SOCK_DGRAM, 0)) >= 0);
    MUST(bind(ends[which][1], name, n) == 0);
    lengths[which] = sizeof names[which];
    MUST(getsockname(ends[which][1], (struct sockaddr *)&names[which], &lengths[which]) == 0);
}

THREAD(sender)
{
    for (int i = 0; i < 2; i++) {
        char bytes[2] = "ab";
        struct iovec v[2] = {{&bytes[0], 1}, {&bytes[1], 1}};
        struct mmsghdr h[2] = {{.msg_hdr = {.msg_name = &names[i], .msg_iov = &v[0], .msg_iovlen = 1}},
                               {.msg_hdr = {.msg_name = &names[i], .msg_iov = &v[1], .msg_iovlen = 1}}};

        data[i] = 1;
        MUST(sendto(ends[i][0], "!", 1, 0, (struct sockaddr *)&names[i], lengths[i]) == 1);
        many[i] = 1;
        h[0].msg_hdr.msg_namelen = h[1].msg_hdr.msg_namelen = lengths[i];
        MUST(sendmmsg(ends[i][0], h, 2, 0) == 2);
    }
    mark();
    return NULL;
}

THREAD(receiver)
{
    after(1);
    for (int i = 0; i < 2; i++) {
        char bytes[2], byte;
        struct iovec v[2] = {{&bytes[0], 1}, {&bytes[1], 1}};
        struct mmsghdr h[2] = {{.msg_hdr = {.msg_iov = &v[0], .msg_iovlen = 1}},
                               {.msg_hdr = {.msg_iov = &v[1], .msg_iovlen = 1}}};

        MUST(recvfrom(ends[i][1], &byte, 1, 0, NULL, NULL) == 1 && byte == '!');
        MUST(data[i]++ == 1);
        MUST(recvmmsg(ends[i][1], h, 2, 0, NULL) == 2 && memcmp(bytes, "ab", 2) == 0);
        MUST(many[i]++ == 1);
    }
    return NULL;
}

int main(void)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    int n = snprintf(un.sun_path + 1, sizeof un.sun_path - 1, "deadheat-test-%ld", (long)getpid());

    make(0, (struct sockaddr *)&in, sizeof in);
    make(1, (struct sockaddr *)&un, offsetof(struct sockaddr_un, sun_path) + 1 + n);
    both(sender, receiver);
    return 0;
}
