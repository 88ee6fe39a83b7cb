// A global, written by a thread and by main meanwhile.
#include <pthread.h>

int x, y;

static void *thread(void *arg)
{
    x = 1; // PAIR a
    y = 1; // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    x = 2; // PAIR a
    pthread_join(t, NULL);
    return 0;
}
