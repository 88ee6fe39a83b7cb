// Created under a condition and joined under the same: behind it the thread has ended either way.
// FLAGS -O0
#include <pthread.h>

int x;

static void *thread(void *arg)
{
    x = 1; // PAIR a
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    int threaded = argc > 1;
    if (threaded)
        pthread_create(&t, NULL, thread, NULL);
    x = 2; // PAIR a
    if (threaded)
        pthread_join(t, NULL);
    x = 3; // NO PAIR
    return 0;
}
