// Functions that run when the program ends, by on_exit and by attribute, beside a thread that still runs.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
int x, y;

static void bye(int s, void *p)
{
    (void)s;
    ++*(int *)p; // RACE a:sound
}

__attribute__((destructor)) static void fini(void)
{
    y = 1; // RACE b:sound
}

static void *f(void *p)
{
    x++; // RACE a
    y++; // RACE b
    return p;
}

int main(void)
{
    on_exit(bye, &x);
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    pthread_detach(t);
    return 0;
}
