/*
 * leaves.c - ends while a thread of it is held at its access.
 */
#include "meet.h"

#include <unistd.h>

static volatile long shared;
static atomic_int tid;

static void *put(void *arg)
{
    (void)arg;
    atomic_store(&tid, gettid());
    shared = 1; // FIRST
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, put, NULL);
    while (!atomic_load(&tid) || !is_asleep(atomic_load(&tid)))
        continue;
    puts("OK");
    fflush(stdout);
    _exit(0);
}
