// A mutex that one thread locks and another unlocks protects nothing.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;

static void *f(void *a)
{
    x = 2; // RACE a b
    pthread_mutex_unlock(&m);
    return a;
}

int main(void)
{
    pthread_t t;
    pthread_mutex_lock(&m);
    pthread_create(&t, 0, f, 0);
    x = 3; // RACE a
    pthread_mutex_lock(&m);
    x = 4; // RACE b
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
