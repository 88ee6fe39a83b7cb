// The try variants of a read-write lock, with their modes.
#include <pthread.h>

int x, y;
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

static void *thread(void *arg)
{
    if (pthread_rwlock_trywrlock(&l) == 0) {
        x++; // NO PAIR
        pthread_rwlock_unlock(&l);
    }
    if (pthread_rwlock_tryrdlock(&l) == 0) {
        y++; // PAIR a
        pthread_rwlock_unlock(&l);
    }
    return NULL;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, thread, NULL);
    pthread_create(&u, NULL, thread, NULL);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
