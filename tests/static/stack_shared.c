// A local variable of main, given to a thread.
#include <pthread.h>

static void *thread(void *arg)
{
    *(int *)arg = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    int x = 5, y = 6;
    pthread_create(&t, NULL, thread, &x);
    x = 2; // PAIR a
    y++;   // NO PAIR
    pthread_join(t, NULL);
    return x + y; // NO PAIR
}
