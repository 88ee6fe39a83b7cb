// A cleanup handler that unlocks: what follows it has no lock.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x, y;

static void clean(void *p)
{
    ++*(int *)p;
    pthread_mutex_unlock(&m);
}

static void *f(void *a)
{
    pthread_mutex_lock(&m);
    pthread_cleanup_push(clean, &x);
    y++; // NO RACE
    if (a)
        pthread_exit(0);
    pthread_cleanup_pop(1);
    x++; // RACE a b
    return a;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, 0, f, &y);
    pthread_create(&u, 0, f, 0);
    pthread_mutex_lock(&m);
    x = 1; // RACE b
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
