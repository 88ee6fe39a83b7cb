// Phases of a team of equal threads.
#include <pthread.h>

int x, y;
pthread_barrier_t b;

static void *thread(void *arg)
{
    if (!arg)
        x = 1; // PAIR a b:barriers
    pthread_barrier_wait(&b);
    return (void *)(long)x; // PAIR b
}

int main(void)
{
    pthread_t t[4];
    pthread_barrier_init(&b, NULL, 4);
    for (long i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, thread, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    return 0;
}
