// Each thread has its own element, by the square of what the loop counts: that no two are equal is assumed.
#include <pthread.h>

long out[50];

static void *thread(void *arg)
{
    long id = (long)arg;
    out[id] = id + 1; // PAIR a:partition
    return NULL;
}

int main(void)
{
    pthread_t t[8];
    for (long i = 0; i < 8; i++)
        pthread_create(&t[i], NULL, thread, (void *)(i * i));
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
    return 0;
}
