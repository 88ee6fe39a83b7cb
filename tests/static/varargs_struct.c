// A pointer in a structure that is passed by value, through an ellipsis and in memory.
#include <pthread.h>
#include <stdarg.h>

int x, y;

struct several {
    long many[3];
    int *place;
    int *other;
};

__attribute__((noinline)) static void set(int n, va_list args)
{
    struct several s = {{0}, &y, &y};
    for (int i = 0; i < n; i++)
        s = va_arg(args, struct several);
    *s.place = 1; // PAIR a
}

__attribute__((noinline)) static void set_all(int n, ...)
{
    va_list args;
    va_start(args, n);
    set(n, args);
    va_end(args);
}

static void *thread(void *arg)
{
    struct several s = {{1, 2, 3}, &x, &x};
    set_all(1, s);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    x = 2; // PAIR a
    pthread_join(t, NULL);
    return 0;
}
