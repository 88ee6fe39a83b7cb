// An array of structures with a lock each, in a global.
#include <pthread.h>

struct slot {
    pthread_mutex_t lock;
    long count, total;
} slots[16];

static void *thread(void *arg)
{
    for (int i = 0; i < 16; i++) {
        pthread_mutex_lock(&slots[i].lock);
        slots[i].count++; // NO PAIR
        pthread_mutex_unlock(&slots[i].lock);
        slots[i].total++; // PAIR a
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t, u;
    for (int i = 0; i < 16; i++)
        pthread_mutex_init(&slots[i].lock, NULL);
    pthread_create(&t, NULL, thread, NULL);
    pthread_create(&u, NULL, thread, NULL);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
