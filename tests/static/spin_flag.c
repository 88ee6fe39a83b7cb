// A loop that waits for a plain variable to change: reported as what it is.
#include <pthread.h>

volatile int done;
int data;

static void *waiter(void *arg)
{
    while (!done) // PAIR a:ad-hoc
        ;
    return (void *)(long)data; // PAIR b
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, waiter, NULL);
    data = 5; // PAIR b
    done = 1; // PAIR a
    pthread_join(t, NULL);
    return 0;
}
