/*
 * several.c - one write, made once, while two other threads read the same variable all the time, each at a line of its own: who
 * waits at the write is met by both.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static volatile int shared;
static atomic_int running, over;

static void *one(void *arg)
{
    for (atomic_fetch_add(&running, 1); !over;)
        (void)shared; // ONE
    return arg;
}

static void *other(void *arg)
{
    for (atomic_fetch_add(&running, 1); !over;)
        (void)shared; // OTHER
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, other, NULL);
    while (running < 2)
        ;
    shared = 1; // FIRST
    over = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts("OK");
    return 3;
}
