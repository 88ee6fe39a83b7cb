// What a function does with the lock held by its caller, always; and another, not always.
#include <pthread.h>

int x, y;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void always(void)
{
    x++; // NO PAIR
}

__attribute__((noinline)) static void sometimes(void)
{
    y++; // PAIR a
}

static void *thread(void *arg)
{
    pthread_mutex_lock(&m);
    always();
    pthread_mutex_unlock(&m);
    sometimes();
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    pthread_mutex_lock(&m);
    always();
    sometimes();
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
