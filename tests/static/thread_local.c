// A thread-local variable is another one in each thread.
#include <pthread.h>

_Thread_local int x;

static void *thread(void *arg)
{
    x++; // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, thread, NULL);
    pthread_create(&u, NULL, thread, NULL);
    x++; // NO PAIR
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
