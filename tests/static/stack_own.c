// Each thread has its own local variables, even if it gives their addresses to a function.
#include <pthread.h>

__attribute__((noinline)) static void increase(int *p)
{
    (*p)++; // NO PAIR
}

static void *thread(void *arg)
{
    int x = (int)(long)arg;
    increase(&x);
    increase(&x);
    return (void *)(long)x;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, thread, NULL);
    pthread_create(&u, NULL, thread, NULL);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
