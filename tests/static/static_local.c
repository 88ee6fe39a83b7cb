// A static variable in a function is one for all threads.
#include <pthread.h>

__attribute__((noinline)) static int next(void)
{
    static int counter;
    return ++counter; // PAIR a
}

static void *thread(void *arg)
{
    return (void *)(long)next();
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    int n = next();
    pthread_join(t, NULL);
    return n;
}
