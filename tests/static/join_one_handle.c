// One variable holds the handle of one thread or another: whichever was created is the one that is joined.
// FLAGS -O0
#include <pthread.h>

int x;

static void *reader(void *arg)
{
    return (void *)(long)x; // NO PAIR
}

static void *writer(void *arg)
{
    x = 1; // NO PAIR
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    if (argc > 1)
        pthread_create(&t, NULL, reader, NULL);
    else
        pthread_create(&t, NULL, writer, NULL);
    pthread_join(t, NULL);
    x = 2; // NO PAIR
    return 0;
}
