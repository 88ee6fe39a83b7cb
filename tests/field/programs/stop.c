/*
 * stop.c - a thread reads through a pointer until it is told to stop; who tells it takes the pointer away when the reader has
 * ended, or does not move. That goes well unless the reader is held before it reads.
 */
#include "meet.h"

#include <unistd.h>

static int value = 1, *pointer = &value;
static atomic_int stop, reading, ended;
static long sum;

static void *reader(void *arg)
{
    (void)arg;
    atomic_store(&reading, gettid());
    while (!atomic_load(&stop)) {
        atomic_store(&running, 1);
        int *p = *(int *volatile *)&pointer; // READ
        sum += *p;
    }
    atomic_store(&ended, 1);
    return NULL;
}

static void *stopper(void *arg)
{
    (void)arg;
    await_other();
    atomic_store(&stop, 1);
    while (!atomic_load(&ended) && !is_asleep(reading))
        continue;
    *(int *volatile *)&pointer = NULL; // WRITE
    return NULL;
}

int main(void)
{
    both(stopper, reader, NULL);
    puts(sum > 0 ? "OK" : "nothing was read");
    return 0;
}
