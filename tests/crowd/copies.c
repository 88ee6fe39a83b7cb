/*
 * copies.c - two threads that copy into the same bytes, by the C library; and others that the kernel writes meanwhile, for which
 * there is no instruction that a thread could be stopped at.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

char shared[64];
unsigned char filled[8];
static const char own[64] = "own";
static volatile size_t size = sizeof(shared);

static void *work(void *arg)
{
    volatile int sink;
    for (int i = 0; i < 30; i++) {
        memcpy(shared, own, size);
        sink = filled[0];
        (void)sink;
        usleep(1000);
    }
    return arg;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, work, NULL);
    ssize_t n = getrandom(filled, sizeof(filled), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return n < 0;
}
