// The variable that says whether there is a thread to join is changed in between.
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
    if (argv[0])
        threaded = 0;
    if (threaded)
        pthread_join(t, NULL);
    x = 3; // PAIR a
    return 0;
}
