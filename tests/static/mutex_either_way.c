// Locked on each way, in different places.
#include <pthread.h>
#include <stdio.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void add(int loud)
{
    if (loud) {
        puts("adding");
        pthread_mutex_lock(&m);
    } else
        pthread_mutex_lock(&m);
    x++; // NO PAIR
    pthread_mutex_unlock(&m);
}

static void *thread(void *arg)
{
    add(arg != NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, argv[0]);
    add(argc > 1);
    pthread_join(t, NULL);
    return 0;
}
