/*
 * copies.c - two threads that copy into the same bytes, by the C library.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char shared[64];
static const char own[64] = "own";
static volatile size_t size = sizeof(shared);

static void *work(void *arg)
{
    for (int i = 0; i < 30; i++) {
        memcpy(shared, own, size);
        usleep(1000);
    }
    return arg;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
