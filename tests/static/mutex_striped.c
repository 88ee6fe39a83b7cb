// Locks in one array, data in another: only counting tells which lock is for which data.
#include <pthread.h>

pthread_mutex_t locks[8];
long data[1024];

static void *thread(void *arg)
{
    unsigned long i = (unsigned long)arg;
    pthread_mutex_lock(&locks[i % 8]);
    data[i % 1024]++; // PAIR a:sound
    pthread_mutex_unlock(&locks[i % 8]);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t, u;
    for (int i = 0; i < 8; i++)
        pthread_mutex_init(&locks[i], NULL);
    pthread_create(&t, NULL, thread, (void *)(long)argc);
    pthread_create(&u, NULL, thread, argv[0]);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
