// A loop that only reads, up to a bound that was read before: it does not wait for the bound to change.
#include <pthread.h>

int bound, done, data[8];

static void *thread(void *arg)
{
    bound = 3; // PAIR a
    done = 1;  // PAIR b:ad-hoc
    return arg;
}

int main(void)
{
    pthread_t t;
    int sum = 0;
    pthread_create(&t, NULL, thread, NULL);
    int end = bound; // PAIR a
    for (int i = 0; i < end; i++)
        sum += data[i & 7];
    while (!*(volatile int *)&done) // PAIR b
        ;
    return pthread_join(t, NULL) + sum;
}
