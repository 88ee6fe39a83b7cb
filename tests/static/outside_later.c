// Code outside the program keeps a function, also in a structure, and calls it later: for relay it is assumed not to.
// ASSUMED callbacks 4
#include <pthread.h>

struct handlers {
    void (*on_event)(void *);
    void (*on_close)(void *);
};

void outside_watch(const struct handlers *handlers, void *arg);
void outside_call_later(void (*function)(void *), void *arg);
int x, y, z;

static void on_event(void *arg)
{
    *(int *)arg = 1; // PAIR a:callbacks b:callbacks d:callbacks
}

static void later(void *arg)
{
    z = 1; // PAIR c:callbacks
}

int main(void)
{
    static const struct handlers all = {on_event, 0};
    x = 2; // NO PAIR
    outside_watch(&all, &x);
    x = 3; // PAIR a
    outside_call_later(later, &y);
    y = 4; // PAIR d
    return 0;
}
