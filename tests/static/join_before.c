// What comes after the join is not beside the thread.
#include <pthread.h>

int x;

static void *thread(void *arg)
{
    x = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    x = 5; // NO PAIR
    pthread_create(&t, NULL, thread, NULL);
    x = 2; // PAIR a
    pthread_join(t, NULL);
    x = 3; // NO PAIR
    return 0;
}
