// volatile orders nothing.
#include <pthread.h>

volatile int x;

static void *thread(void *arg)
{
    x = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    x = 2; // PAIR a
    pthread_join(t, NULL);
    return 0;
}
