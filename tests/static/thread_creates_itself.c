// A thread that creates its like has many instances.
#include <pthread.h>

int x, depth;

static void *thread(void *arg)
{
    pthread_t t;
    x = 1; // PAIR a
    if ((long)arg > 0 && pthread_create(&t, NULL, thread, (void *)((long)arg - 1)) == 0)
        pthread_detach(t);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, (void *)5);
    return pthread_join(t, NULL);
}
