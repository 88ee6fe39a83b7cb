// errno is each thread's own, and stdio locks its streams.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *thread(void *arg)
{
    errno = 0;                      // NO PAIR
    long n = strtol(arg, NULL, 10); // NO PAIR
    printf("%ld %d\n", n, errno);   // NO PAIR
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, "5");
    errno = 0;             // NO PAIR
    printf("%d\n", errno); // NO PAIR
    pthread_join(t, NULL);
    return 0;
}
