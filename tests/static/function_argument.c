// A callback is given context: each caller's own.
#include <pthread.h>

int x, y;

__attribute__((noinline)) static void apply(void (*f)(int *), int *p)
{
    f(p);
}

static void increase(int *p)
{
    ++*p; // PAIR a
}

static void *thread(void *arg)
{
    apply(increase, &x);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    apply(increase, &x);
    apply(increase, &y);
    pthread_join(t, NULL);
    return 0;
}
