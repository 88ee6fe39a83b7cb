// The lock may be one or the other.
#include <pthread.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void add(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    x++; // PAIR a
    pthread_mutex_unlock(lock);
}

static void *thread(void *arg)
{
    add(arg ? &m : &n);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t, u;
    pthread_create(&t, NULL, thread, argv[0]);
    pthread_create(&u, NULL, thread, NULL);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
