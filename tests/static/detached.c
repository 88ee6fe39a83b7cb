// A detached thread may run for ever.
#include <pthread.h>
#include <unistd.h>

int x;

static void *thread(void *arg)
{
    x = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    pthread_detach(t);
    sleep(1);
    x = 2; // PAIR a
    return 0;
}
