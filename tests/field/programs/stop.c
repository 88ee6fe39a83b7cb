/*
 * stop.c - a thread reads through a pointer until it is told to stop; who tells it waits a moment, and takes the pointer away.
 * That goes well unless the reader is very slow.
 */
#include "meet.h"

#include <unistd.h>

static int value = 1, *pointer = &value;
static atomic_int stop;
static long sum;

static void *reader(void *arg)
{
    (void)arg;
    while (!atomic_load(&stop)) {
        atomic_store(&running, 1);
        int *p = *(int *volatile *)&pointer; // READ
        sum += *p;
    }
    return NULL;
}

static void *stopper(void *arg)
{
    (void)arg;
    await_other();
    atomic_store(&stop, 1);
    usleep(300000);
    *(int *volatile *)&pointer = NULL; // WRITE
    return NULL;
}

int main(void)
{
    both(stopper, reader, NULL);
    puts(sum > 0 ? "OK" : "nothing was read");
    return 0;
}
