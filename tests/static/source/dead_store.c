// What is written is written again before anyone is let in: the optimiser leaves the first one out.
#include <pthread.h>

int x;

static void *thread(void *arg)
{
    x = 1; // REMOVED a
    x = 2; // RACE b
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    int now = x; // RACE b REMOVED a
    pthread_join(t, NULL);
    return now;
}
