// Through the kernel: the data of an event that another thread waits for.
// RULE: contents,store
#include <sys/epoll.h>
#include <unistd.h>

#include "escape.h"

static int queue, ends[2];

__attribute__((constructor)) static void open_queue(void)
{
    queue = epoll_create1(0);
    MUST(queue >= 0 && pipe(ends) == 0);
}

static void publish(struct node *n)
{
    struct epoll_event event = {.events = EPOLLOUT, .data.ptr = n};

    MUST(epoll_ctl(queue, EPOLL_CTL_ADD, ends[1], &event) == 0);
}

static struct node *receive(void)
{
    struct epoll_event event;

    MUST(epoll_wait(queue, &event, 1, -1) == 1);
    return (struct node *)event.data.ptr;
}
