// A block for each thread, made by who creates them, in a loop: one allocation, but another block each time, and no thread is
// created without one.
#include <pthread.h>
#include <stdlib.h>

static void *thread(void *arg)
{
    int *p = arg;
    ++*p; // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++) {
        int *p = calloc(1, sizeof *p);
        if (!p)
            return 1;
        pthread_create(&t[i], NULL, thread, p);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    return 0;
}
