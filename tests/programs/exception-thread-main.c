// The first thread is ended like any other: the process goes on without it, until the last thread ends.
// OPTIONS: on_race=exception:race_action=thread
// OUTPUT: the other thread goes on
#include <stdio.h>

#include "invisible.h"

int x;
static int cleaned;

static void clean(void *arg)
{
    (void)arg;
    cleaned = 1;
    mark();
}

THREAD(first)
{
    x = 1; // RACE a:write
    mark();
    after(2);
    int seen;
    __asm__ volatile("movl %1, %0" : "=r"(seen) : "m"(cleaned) : "memory");
    MUST(seen == 1 && x == 1);
    puts("the other thread goes on");
    return NULL;
}

int main(void)
{
    spawn(first, NULL);
    after(1);
    pthread_cleanup_push(clean, NULL);
    x = 2; // RACE a:write
    pthread_cleanup_pop(0);
    abort();
}
