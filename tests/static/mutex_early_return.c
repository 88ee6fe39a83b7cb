// A way out that forgets the lock: after it the lock may or may not be held.
#include <pthread.h>

int x, y;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static int add(int n)
{
    pthread_mutex_lock(&m);
    if (n < 0)
        return -1;
    x += n; // NO PAIR
    pthread_mutex_unlock(&m);
    return 0;
}

static void *thread(void *arg)
{
    add((int)(long)arg);
    y++; // PAIR a
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t, u;
    pthread_create(&t, NULL, thread, (void *)(long)argc);
    pthread_create(&u, NULL, thread, (void *)(long)-argc);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
