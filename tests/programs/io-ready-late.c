// Being ready orders what was done before it, and only by the descriptor that is ready, for reading.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "invisible.h"

static int ready[2], other[2], room[2], instance;
int late, by_other, by_epoll, by_room;

THREAD(first)
{
    by_other = 1; // RACE b:write
    MUST(write(other[1], "a", 1) == 1);
    by_room = 1; // RACE d:write
    MUST(write(room[1], "a", 1) == 1);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    MUST(write(ready[1], "a", 1) == 1);
    late = 1;     // RACE a:write
    by_epoll = 1; // RACE c:write
    mark();
    return NULL;
}

THREAD(third)
{
    struct pollfd fds[3] = {{ready[0], POLLIN, 0}, {other[0], POLLPRI, 0}, {room[0], POLLOUT, 0}};
    struct epoll_event event;

    after(2);
    MUST(poll(fds, 3, -1) == 2 && fds[1].revents == 0 && fds[2].revents == POLLOUT);
    late = 2;     // RACE a:write
    by_other = 2; // RACE b:write
    by_room = 2;  // RACE d:write
    MUST(epoll_wait(instance, &event, 1, -1) == 1);
    by_epoll = 2; // RACE c:write
    return NULL;
}

int main(void)
{
    MUST(pipe(ready) == 0 && pipe(other) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, room) == 0);
    MUST((instance = epoll_create1(0)) >= 0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = ready[0]};
    MUST(epoll_ctl(instance, EPOLL_CTL_ADD, ready[0], &event) == 0);
    pthread_t t = spawn(third, NULL);
    both(first, second);
    join(t);
    return 0;
}
