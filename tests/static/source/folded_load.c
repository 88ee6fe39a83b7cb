// What was just written is read: the optimiser knows the value. The write stays, and its races with it.
#include <pthread.h>

int x, seen;

static void *thread(void *arg)
{
    x = 1;    // RACE a
    seen = x; // REMOVED b
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    x = 2; // RACE a REMOVED b
    return pthread_join(t, NULL);
}
