// The destructor of thread-specific data.
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t k;
int freed;

static int *last;

static void dtor(void *p)
{
    freed++; // RACE a
    *(int *)p = 4;
}

static void *f(void *a)
{
    int *p = malloc(sizeof *p);
    *p = 1;
    last = p; // RACE b
    pthread_setspecific(k, p);
    return a;
}

int main(void)
{
    pthread_key_create(&k, dtor);
    pthread_t t, u;
    pthread_create(&t, 0, f, 0);
    pthread_create(&u, 0, f, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return *last & 0;
}
