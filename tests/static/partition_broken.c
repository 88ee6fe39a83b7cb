// An element of its own, and its neighbour's: each would be nobody else's but for the other.
#include <pthread.h>

long out[9];

static void *thread(void *arg)
{
    long id = (long)arg;
    out[id] = id;      // PAIR b
    out[id + 1] += id; // PAIR b
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
