// One instance of a thread does not race with itself.
#include <pthread.h>

int x;

static void *thread(void *arg)
{
    for (int i = 0; i < 10; i++)
        x++; // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    return pthread_join(t, NULL);
}
