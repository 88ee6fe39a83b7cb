// What pthread_once runs is done before anyone goes on.
#include <pthread.h>

int x;
pthread_once_t once = PTHREAD_ONCE_INIT;

static void initialise(void)
{
    x = 5; // NO PAIR
}

static void *thread(void *arg)
{
    pthread_once(&once, initialise);
    return (void *)(long)x; // NO PAIR
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, thread, NULL);
    pthread_create(&u, NULL, thread, NULL);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
