/*
 * hot.c - what the inlined check of each thread lets pass: all accesses, or none. Compiled with the runtime's own header.
 */
#include <pthread.h>
#include <stdio.h>

#include "runtime/abi/abi.h"

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *look(void *name)
{
    pthread_mutex_lock(&lock);
    shared++;
    printf("%s: %s\n", (const char *)name,
           __dh_hot.span == ~0u ? "all"
           : __dh_hot.span == 0 ? "none"
                                : "some");
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    look("first");
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, NULL, look, "thread");
        pthread_join(thread, NULL);
    }
    look("last");
    return 0;
}
