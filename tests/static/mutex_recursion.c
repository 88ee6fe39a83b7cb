// A function that calls itself, locked in each call.
#include <pthread.h>

int x, y;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static int walk(int depth)
{
    pthread_mutex_lock(&m);
    x++; // NO PAIR
    pthread_mutex_unlock(&m);
    y++; // PAIR a
    if (depth <= 0)
        return 0;
    return walk(depth - 1) + walk(depth - 2);
}

static void *thread(void *arg)
{
    return (void *)(long)walk(5);
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    int n = walk(6);
    pthread_join(t, NULL);
    return n;
}
