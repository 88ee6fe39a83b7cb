// Two instances, but the first has ended when the second starts.
#include <pthread.h>

int x;

static void *thread(void *arg)
{
    x++; // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
    return 0;
}
