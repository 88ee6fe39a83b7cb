// Addresses of thread-local variables, in the hands of another thread.
#include <pthread.h>

static __thread int mine;
int *published[2];

static __thread struct {
    int a, b;
} pair;

static void *f(void *p)
{
    *published[0] = 4; // RACE a
    *published[1] = 3; // RACE b
    mine = 2;
    pair.b = 1;
    return p;
}

int main(void)
{
    published[0] = &mine;
    published[1] = &pair.b;
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    mine = 3;   // RACE a
    pair.b = 2; // RACE b
    pair.a = 5;
    pthread_join(t, 0);
    return 0;
}
