// Writing under a lock for reading.
#include <pthread.h>

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
int x, y;

static void *f(void *a)
{
    pthread_rwlock_rdlock(&l);
    x++; // RACE a
    pthread_rwlock_unlock(&l);
    pthread_rwlock_wrlock(&l);
    y++; // NO RACE
    pthread_rwlock_unlock(&l);
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
