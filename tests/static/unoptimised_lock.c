// FLAGS -O0
// A lock that is taken only if a function says so that returns a constant, as in libstdc++: nobody has inlined it.
#include <pthread.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x, y;

static int has_threads(void)
{
    return 1;
}

static int is_quiet(void)
{
    return 0;
}

static void lock(void)
{
    if (has_threads())
        pthread_mutex_lock(&m);
}

static void unlock(void)
{
    if (has_threads() != 0)
        pthread_mutex_unlock(&m);
}

static void *thread(void *arg)
{
    lock();
    x++; // NO PAIR
    unlock();
    if (is_quiet())
        pthread_mutex_lock(&m);
    y++; // PAIR a
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
