// An element of its own, and its neighbour's: only the first is nobody else's but for that.
#include <pthread.h>

long out[9];

static void *thread(void *arg)
{
    long id = (long)arg;
    out[id] = id;      // PAIR b
    out[id + 1] += id; // PAIR b c:partition
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
