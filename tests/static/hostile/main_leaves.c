// main ends by pthread_exit while others run.
#include <pthread.h>
int x;

static void *f(void *a)
{
    x++; // RACE a
    return a;
}

static void *g(void *a)
{
    pthread_join(*(pthread_t *)a, 0);
    x = 2;
    return a;
}

static pthread_t t, u;

int main(void)
{
    pthread_create(&t, 0, f, 0);
    pthread_create(&u, 0, g, &t);
    x = 9; // RACE a
    pthread_exit(0);
}
