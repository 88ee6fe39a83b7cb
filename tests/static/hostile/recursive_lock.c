// A recursive lock, and one access behind it.
#define _GNU_SOURCE
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
int in, after, out;

static void inner(void)
{
    pthread_mutex_lock(&m);
    in++; // NO RACE
    pthread_mutex_unlock(&m);
}

static void *f(void *a)
{
    pthread_mutex_lock(&m);
    inner();
    after++;
    pthread_mutex_unlock(&m);
    out++; // RACE a
    return a;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, 0, f, 0);
    pthread_create(&u, 0, f, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
