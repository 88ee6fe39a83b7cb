// Each thread has its own element, by its number.
#include <pthread.h>

long out[8];

static void *thread(void *arg)
{
    long id = (long)arg;
    out[id] = id * id; // PAIR a:partition
    return NULL;
}

int main(void)
{
    pthread_t t[8];
    for (long i = 0; i < 8; i++)
        pthread_create(&t[i], NULL, thread, (void *)i);
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
    return 0;
}
