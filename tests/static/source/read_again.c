// A loop reads what nothing in it writes: the optimiser reads it once, in front of the loop, and the read in the condition is gone.
#include <pthread.h>

int limit = 1000, total;

static void *thread(void *arg)
{
    int most = limit; // RACE a
    int n = 0;
    while (n * n + 1 < most && n < limit) // REMOVED b
        n++;
    total = n;
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    limit = 10; // RACE a REMOVED b
    return pthread_join(t, NULL);
}
