// Pointers go through the kernel: epoll gives back what it was given for a descriptor.
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>

struct connection {
    int fd, hits;
};
static int poller;

static void *thread(void *arg)
{
    struct epoll_event events[8];
    int n = epoll_wait(poller, events, 8, -1);
    for (int i = 0; i < n; i++) {
        struct connection *c = events[i].data.ptr;
        c->hits++; // PAIR a
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    struct epoll_event event = {.events = EPOLLIN};
    event.data.ptr = calloc(1, sizeof(struct connection));
    poller = epoll_create1(0);
    epoll_ctl(poller, EPOLL_CTL_ADD, 0, &event);
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_join(a, NULL);
    return pthread_join(b, NULL);
}
