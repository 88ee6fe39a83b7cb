// What atexit has registered runs on the thread that calls exit, beside main; what a thread has registered, when main ends.
#include <pthread.h>
#include <stdlib.h>

int x, y, z;

static void bye(void)
{
    x++; // RACE a:sound
}

__attribute__((destructor)) static void last(void)
{
    z++; // RACE c:sound
}

static void bye_too(void)
{
    y++; // RACE b:sound
}

static void *leaves(void *arg)
{
    if (arg)
        exit(0);
    return arg;
}

static void *stays(void *arg)
{
    atexit(bye_too);
    y = 2; // RACE b:sound
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t, u;
    atexit(bye);
    pthread_create(&t, NULL, leaves, argc > 1 ? argv : NULL);
    pthread_create(&u, NULL, stays, NULL);
    x++; // RACE a:sound
    z++; // RACE c:sound
    return pthread_join(t, NULL);
}
