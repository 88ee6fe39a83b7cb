// One variable for the handles of two threads that may both be created: which one is joined is not known.
#include <pthread.h>

int x;

static void *first(void *arg)
{
    x = 1; // PAIR a b
    return NULL;
}

static void *second(void *arg)
{
    x = 2; // PAIR a c
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, NULL, first, NULL);
    if (argc > 1)
        pthread_create(&t, NULL, second, NULL);
    pthread_join(t, NULL);
    x = 3; // PAIR b c
    return 0;
}
