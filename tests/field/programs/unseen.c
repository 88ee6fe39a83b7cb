/*
 * unseen.c - a write by one thread, later a read by another, ordered by functions that others may have compiled: unseen-by.c.
 */
#include <pthread.h>
#include <stdio.h>

void tell(void);
void hear(void);

static long shared;
static volatile long sink;

__attribute__((noinline)) static void put(void)
{
    shared = 1; // FIRST
}

__attribute__((noinline)) static void get(void)
{
    sink = shared; // SECOND
}

static void *writer(void *arg)
{
    put();
    tell();
    return arg;
}

static void *reader(void *arg)
{
    hear();
    get();
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&b, NULL, reader, NULL);
    pthread_create(&a, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts("OK");
    return 0;
}
