// A join on each way is one.
#include <pthread.h>
#include <stdio.h>

int x;

static void *thread(void *arg)
{
    x = 1; // NO PAIR
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    void *result;
    pthread_create(&t, NULL, thread, NULL);
    if (argc > 1) {
        pthread_join(t, NULL);
        puts("joined");
    } else
        pthread_join(t, &result);
    x = 2; // NO PAIR
    return 0;
}
