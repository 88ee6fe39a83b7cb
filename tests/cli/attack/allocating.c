/*
 * allocating.c - the program: two threads that allocate in turn, and no race.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *pool_malloc(size_t n);

static void *work(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        char *p = realloc(strdup("hello"), 100 + (size_t)i);
        p[i] = 1;
        free(p);
    }
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
    free(realloc(pool_malloc(10), 20));
    puts("done");
    return 3;
}
