// Who finds a descriptor ready is ordered after who made it so, also if nothing is read: by poll, select, epoll.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "invisible.h"

static int by_poll[2], by_ppoll[2], by_select[2], by_pselect[2], by_epoll[2], counter, instance, also;
int x[6];

THREAD(first)
{
    x[0] = 1;
    MUST(write(by_poll[1], "a", 1) == 1);
    x[1] = 1;
    MUST(close(by_ppoll[1]) == 0);
    x[2] = 1;
    MUST(write(by_select[1], "a", 1) == 1);
    x[3] = 1;
    MUST(write(by_pselect[1], "a", 1) == 1);
    x[4] = 1;
    MUST(shutdown(by_epoll[1], SHUT_RDWR) == 0);
    x[5] = 1;
    MUST(eventfd_write(counter, 1) == 0);
    return NULL;
}

THREAD(second)
{
    struct pollfd p = {by_poll[0], POLLIN, 0};
    struct epoll_event event;
    fd_set set;

    MUST(poll(&p, 1, -1) == 1);
    x[0] = 2;
    p = (struct pollfd){by_ppoll[0], 0, 0};
    MUST(ppoll(&p, 1, NULL, NULL) == 1 && p.revents == POLLHUP);
    x[1] = 2;
    FD_ZERO(&set);
    FD_SET(by_select[0], &set);
    MUST(select(by_select[0] + 1, &set, NULL, NULL, NULL) == 1);
    x[2] = 2;
    FD_ZERO(&set);
    FD_SET(by_pselect[0], &set);
    MUST(pselect(by_pselect[0] + 1, &set, NULL, NULL, NULL, NULL) == 1);
    x[3] = 2;
    MUST(epoll_wait(instance, &event, 1, -1) == 1 && event.data.fd == by_epoll[0]);
    x[4] = 2;
    MUST(epoll_wait(also, &event, 1, -1) == 1 && event.data.ptr == x);
    x[5] = 2;
    return NULL;
}

int main(void)
{
    MUST(pipe(by_poll) == 0 && pipe(by_ppoll) == 0 && pipe(by_select) == 0 && pipe(by_pselect) == 0);
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, by_epoll) == 0 && (counter = eventfd(0, 0)) >= 0);
    MUST((instance = epoll_create1(0)) >= 0 && (also = epoll_create1(0)) >= 0);
    struct epoll_event event = {.events = EPOLLRDHUP, .data.fd = by_epoll[0]};
    MUST(epoll_ctl(instance, EPOLL_CTL_ADD, by_epoll[0], &event) == 0);
    event = (struct epoll_event){.events = EPOLLIN | EPOLLET, .data.ptr = x};
    MUST(epoll_ctl(also, EPOLL_CTL_ADD, counter, &event) == 0);
    both(second, first);
    return 0;
}
