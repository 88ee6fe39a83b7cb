// A join on one way only is no join.
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
    pthread_create(&t, NULL, thread, NULL);
    if (argc > 1)
        pthread_join(t, NULL);
    x = 2; // PAIR a
    return 0;
}
