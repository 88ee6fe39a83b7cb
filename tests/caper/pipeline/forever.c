/*
 * forever.c - two threads race, and the program neither ends by itself nor when it is asked to.
 */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

int racy;

static void *worker(void *arg)
{
    for (;;) {
        racy++;
        usleep(500);
    }
    return arg;
}

int main(void)
{
    pthread_t t[2];
    signal(SIGTERM, SIG_IGN);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (;;)
        pause();
}
