/*
 * own_malloc.c - a program with an allocator of its own, itself instrumented; one race besides.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "pool.h"

static int shared;

void free(void *p)
{
    (void)p;
}

static void *work(void *arg)
{
    char *p = malloc(100);
    strcpy(p, "hello");
    shared += p[0];
    free(p);
    return arg;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&t[i], NULL, work, NULL) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    puts("done");
    return 3;
}
