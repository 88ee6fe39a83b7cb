// Two instances of one thread: a line that races with itself.
#include <pthread.h>

int x;

static void *thread(void *arg)
{
    x++; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, thread, NULL);
    pthread_create(&u, NULL, thread, NULL);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
