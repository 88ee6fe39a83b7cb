// A copy of so many bytes as somebody says, to a place among bytes, moves no pointers: that is assumed, and counted.
// ASSUMED byte-copies 2
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

int x;
size_t at;
char *buffer;

__attribute__((noinline)) static void append(const void *data, size_t n)
{
    memcpy(buffer + at, data, n);
    at += n;
}

static void *thread(void *arg)
{
    int *p;
    memcpy(&p, buffer + 3, sizeof p);
    *p = 1; // NO PAIR
    return arg;
}

int main(void)
{
    pthread_t t;
    int *p = &x;
    buffer = malloc(100);
    append("abc", 3);
    append(&p, sizeof p);
    pthread_create(&t, NULL, thread, NULL);
    x = 2; // NO PAIR
    return pthread_join(t, NULL);
}
