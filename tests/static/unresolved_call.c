// A call through a pointer of which nothing is known does nothing: that is assumed, and counted.
// ASSUMED unresolved-call 1
#include <pthread.h>

int x;
void (*unknown)(int *);

static void *thread(void *arg)
{
    if (unknown)
        unknown(&x);
    x = 1; // PAIR a
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    x = 2; // PAIR a
    return pthread_join(t, NULL);
}
