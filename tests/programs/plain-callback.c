// Instrumented code called back from plain code: the race is found, the line is right.
// PLAIN: plain.c
#include "invisible.h"

void plain_call(void (*back)(void *), void *arg);

static void bump(void *arg)
{
    ++*(long *)arg; // RACE a
}

long count;

THREAD(worker)
{
    after(*(int *)arg);
    plain_call(bump, &count);
    mark();
    return NULL;
}

int main(void)
{
    int zero = 0, one = 1;
    pthread_t a = spawn(worker, &zero), b = spawn(worker, &one);

    join(a);
    join(b);
    return 0;
}
