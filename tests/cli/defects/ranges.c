/*
 * ranges.c - what is said of an access to many bytes of which only the last one races.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../../programs/invisible.h"

static char from[256], to[256], *block;

static void *work(void *arg)
{
    (void)arg;
    to[100] = 1;
    block[100] = 1;
    mark();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    (void)argv;
    block = malloc(101);
    pthread_create(&t, NULL, work, NULL);
    after(1);
    memcpy(to, from, 100 + (size_t)argc);
    free(block);
    pthread_join(t, NULL);
    return to[0];
}
