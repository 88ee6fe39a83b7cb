// libevent keeps the argument of an event, and gives it to its function in the thread that runs the loop.
// RULE: call
// PLAIN: event.c
#include "escape.h"

struct event *event_new(void *base, int fd, short events, void (*function)(int, short, void *), void *arg);
int event_base_dispatch(void *base);

static struct node *received;

static void happened(int fd, short events, void *arg)
{
    (void)fd;
    (void)events;
    received = (struct node *)arg;
}

static void publish(struct node *n)
{
    MUST(event_new(NULL, -1, 0, happened, n));
}

static struct node *receive(void)
{
    MUST(event_base_dispatch(NULL) == 0);
    return received;
}
