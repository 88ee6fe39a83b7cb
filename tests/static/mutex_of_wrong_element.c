// The lock of one element, the data of another: `relay` has one name for all these locks.
#include <pthread.h>

struct slot {
    pthread_mutex_t lock;
    long count;
} slots[16];

static void *thread(void *arg)
{
    long i = (long)arg;
    pthread_mutex_lock(&slots[i].lock);
    slots[i + 1].count++; // PAIR a:sound,partition
    pthread_mutex_unlock(&slots[i].lock);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t, u;
    for (int i = 0; i < 16; i++)
        pthread_mutex_init(&slots[i].lock, NULL);
    pthread_create(&t, NULL, thread, (void *)(long)argc);
    pthread_create(&u, NULL, thread, (void *)(long)(argc + 1));
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
