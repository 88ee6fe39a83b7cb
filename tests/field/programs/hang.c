/*
 * hang.c - a thread says that it is ready, and another, which finds that it is not, waits for ever. It looks when the first
 * has said so, or does not move: so that goes well unless the first is held before it does.
 */
#include "meet.h"

#include <semaphore.h>
#include <unistd.h>

static volatile int ready;
static atomic_int saying, said;
static sem_t never;

static void *sayer(void *arg)
{
    (void)arg;
    atomic_store(&saying, gettid());
    ready = 1; // WRITE
    atomic_store(&said, 1);
    return NULL;
}

static void *asker(void *arg)
{
    (void)arg;
    while (!atomic_load(&saying))
        continue;
    while (!atomic_load(&said) && !is_asleep(saying))
        continue;
    if (!ready) // READ
        sem_wait(&never);
    return NULL;
}

int main(void)
{
    sem_init(&never, 0, 0);
    both(asker, sayer, NULL);
    puts("OK");
    return 0;
}
