// What is done to an object after it was registered is not known to who gets the event.
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "invisible.h"

struct connection {
    int before, behind;
};
static int instance;
struct connection c;

THREAD(first)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &c};

    c.before = 1;
    MUST(epoll_ctl(instance, EPOLL_CTL_ADD, eventfd(1, 0), &event) == 0);
    c.behind = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    struct epoll_event event;

    after(1);
    MUST(epoll_wait(instance, &event, 1, -1) == 1);
    MUST(event.data.ptr == &c && c.before++ == 1);
    c.behind = 2; // RACE a:write
    return NULL;
}

int main(void)
{
    MUST((instance = epoll_create1(0)) >= 0);
    both(first, second);
    return 0;
}
