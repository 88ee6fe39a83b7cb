// A thread that is started before main and joined after it.
#include <pthread.h>
int x, y;

static pthread_t t;

static void *f(void *p)
{
    x++; // RACE a
    y++; // RACE b:sound
    return p;
}

__attribute__((constructor)) static void up(void)
{
    pthread_create(&t, 0, f, 0);
}

__attribute__((destructor)) static void down(void)
{
    y = 3; // RACE b
    pthread_join(t, 0);
}

int main(void)
{
    x = 2; // RACE a
    return 0;
}
