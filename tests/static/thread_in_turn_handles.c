// Two instances in turn, each with a handle of its own.
#include <pthread.h>

int x;

static void *thread(void *arg)
{
    x++; // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
    pthread_create(&u, NULL, thread, NULL);
    pthread_join(u, NULL);
    return 0;
}
