// A thread-local variable whose address another thread gets.
#include <pthread.h>

_Thread_local int x;

static void *thread(void *arg)
{
    *(int *)arg = 1; // PAIR a
    x = 2;           // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, &x);
    x = 3; // PAIR a
    pthread_join(t, NULL);
    return 0;
}
