// The value that is read is never used: the optimiser leaves the read out.
#include <pthread.h>

int x;

static void *thread(void *arg)
{
    int unused = x; // REMOVED a
    (void)unused;
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    x = 1; // REMOVED a
    return pthread_join(t, NULL);
}
