// Created under one condition and joined under another.
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
    if (argc > 1)
        pthread_create(&t, NULL, thread, NULL);
    if (argv[0] && argc > 1)
        pthread_join(t, NULL);
    x = 3; // PAIR a
    return 0;
}
