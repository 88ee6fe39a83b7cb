// A spin lock is a lock.
#include <pthread.h>

int x, y;
pthread_spinlock_t s;

static void *thread(void *arg)
{
    pthread_spin_lock(&s);
    x++; // NO PAIR
    pthread_spin_unlock(&s);
    if (pthread_spin_trylock(&s) == 0) {
        y++; // NO PAIR
        pthread_spin_unlock(&s);
    }
    return NULL;
}

int main(void)
{
    pthread_t t, u;
    pthread_spin_init(&s, 0);
    pthread_create(&t, NULL, thread, NULL);
    pthread_create(&u, NULL, thread, NULL);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
