// What atexit registers runs when main ends, beside threads that still run.
#include <pthread.h>
#include <stdlib.h>

int x;

static void at_end(void)
{
    x = 1; // PAIR a:exit
}

static void *thread(void *arg)
{
    x = 2; // PAIR a b
    return NULL;
}

int main(void)
{
    pthread_t t;
    atexit(at_end);
    pthread_create(&t, NULL, thread, NULL);
    x = 3; // PAIR b
    return 0;
}
