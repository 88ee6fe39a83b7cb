// libevent: the thread that runs the loop of a base calls the functions of its events, each with its own argument.
#include <pthread.h>
#include <stddef.h>

struct event {
    char opaque[128];
};
struct event_base *event_base_new(void);
void event_set(struct event *ev, int fd, short events, void (*call)(int, short, void *), void *arg);
int event_base_set(struct event_base *base, struct event *ev);
int event_base_loop(struct event_base *base, int flags);

struct event one, two, three;
struct event_base *in_thread, *in_main;
int x, y, z, u;

static void on_one(int fd, short what, void *arg)
{
    *(int *)arg = 1; // PAIR a
    z = 1;           // PAIR b
}

static void on_two(int fd, short what, void *arg)
{
    *(int *)arg = 1; // NO PAIR
    z = 2;           // PAIR b
}

static void on_three(int fd, short what, void *arg)
{
    *(int *)arg = 1; // NO PAIR
}

static void *thread(void *arg)
{
    event_base_loop(in_thread, 0);
    return NULL;
}

int main(void)
{
    pthread_t t;
    in_thread = event_base_new();
    in_main = event_base_new();
    event_set(&one, 0, 2, on_one, &x);
    event_base_set(in_thread, &one);
    event_set(&three, 0, 2, on_three, &u);
    event_base_set(in_thread, &three);
    event_set(&two, 0, 2, on_two, &y);
    event_base_set(in_main, &two);
    pthread_create(&t, NULL, thread, NULL);
    x = 2; // PAIR a
    event_base_loop(in_main, 0);
    pthread_join(t, NULL);
    return 0;
}
