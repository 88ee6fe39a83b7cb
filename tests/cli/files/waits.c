/*
 * waits.c - two threads that share a counter under a lock; then says "ready PID" and waits: for a line, and ends with
 * status 3, or for SIGUSR1, which it takes itself, and ends with status 5.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static volatile sig_atomic_t taken;

static void *count(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

static void take(int number)
{
    taken = number;
}

int main(void)
{
    pthread_t t;
    char line;
    struct sigaction sa = {.sa_handler = take};
    sigaction(SIGUSR1, &sa, NULL);
    pthread_create(&t, NULL, count, NULL);
    count(NULL);
    pthread_join(t, NULL);
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    while (!taken && read(0, &line, 1) < 0)
        ;
    return taken ? 5 : 3;
}
