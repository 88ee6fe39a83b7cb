// Work given out by epoll: an object is made, registered by its address, and used by the thread that gets the
// event; it hands it to the next one by arming it again.
// NO RACE
// TSAN: of epoll_ctl it knows EPOLL_CTL_ADD only
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "invisible.h"

struct connection {
    int fd, served;
};
static int instance;
static struct connection *made;

THREAD(first)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT};
    struct connection *c = malloc(sizeof *c);

    c->fd = eventfd(1, 0); /* ready at once */
    c->served = 0;
    event.data.ptr = c;
    MUST(epoll_ctl(instance, EPOLL_CTL_ADD, c->fd, &event) == 0);
    mark();
    return NULL;
}

static void serve(int served)
{
    struct epoll_event event;
    struct connection *c;

    MUST(epoll_wait(instance, &event, 1, -1) == 1);
    c = event.data.ptr;
    MUST(c->served++ == served);
    event.events = EPOLLIN | EPOLLONESHOT;
    made = c;
    MUST(epoll_ctl(instance, EPOLL_CTL_MOD, c->fd, &event) == 0);
}

THREAD(second)
{
    after(1);
    serve(0);
    mark();
    return NULL;
}

THREAD(third)
{
    after(2);
    serve(1);
    return NULL;
}

int main(void)
{
    pthread_t t[3];

    MUST((instance = epoll_create1(0)) >= 0);
    t[0] = spawn(first, NULL);
    t[1] = spawn(second, NULL);
    t[2] = spawn(third, NULL);
    for (int i = 0; i < 3; i++)
        join(t[i]);
    MUST(made->served == 2);
    close(made->fd);
    free(made);
    return 0;
}
