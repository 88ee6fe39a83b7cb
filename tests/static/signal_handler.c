// A signal handler may run beside anything.
#include <pthread.h>
#include <signal.h>

volatile sig_atomic_t x;
int y;

static void handler(int number)
{
    x = number; // PAIR a
}

static void *thread(void *arg)
{
    x = 1; // PAIR a
    y = 1; // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t;
    signal(SIGUSR1, handler);
    pthread_create(&t, NULL, thread, NULL);
    return pthread_join(t, NULL);
}
