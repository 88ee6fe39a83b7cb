// A function that is called with the lock held releases it.
#include <pthread.h>

int x, y;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void add_and_leave(void)
{
    x++; // NO PAIR
    pthread_mutex_unlock(&m);
}

static void *thread(void *arg)
{
    pthread_mutex_lock(&m);
    add_and_leave();
    y++; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    pthread_mutex_lock(&m);
    y++; // PAIR a
    add_and_leave();
    pthread_join(t, NULL);
    return 0;
}
