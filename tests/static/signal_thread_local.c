// A signal handler has the thread-local variables of the thread that it interrupts.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

_Thread_local int *mine;
int *volatile shown;

static void handler(int number)
{
    shown = mine; // PAIR s
}

static void *thread(void *arg)
{
    mine = malloc(sizeof(*mine));
    raise(SIGUSR1);
    *mine = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    signal(SIGUSR1, handler);
    pthread_create(&t, NULL, thread, NULL);
    int *p = shown; // PAIR s
    if (p)
        *p = 2; // PAIR a
    return pthread_join(t, NULL);
}
