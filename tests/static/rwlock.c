// Readers share, writers exclude.
#include <pthread.h>

int x, y;
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

static void *reader(void *arg)
{
    pthread_rwlock_rdlock(&l);
    int seen = x; // NO PAIR
    y = seen;     // PAIR a
    pthread_rwlock_unlock(&l);
    return NULL;
}

static void *writer(void *arg)
{
    pthread_rwlock_wrlock(&l);
    x++; // NO PAIR
    y++; // NO PAIR
    pthread_rwlock_unlock(&l);
    return NULL;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, reader, NULL);
    pthread_create(&u, NULL, writer, NULL);
    pthread_rwlock_rdlock(&l);
    y = 5; // PAIR a
    pthread_rwlock_unlock(&l);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
