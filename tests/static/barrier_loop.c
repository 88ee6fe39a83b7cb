// A team in a loop of two phases: what one writes in the first, all read in the second.
#include <pthread.h>

int x;
pthread_barrier_t b;

static void *thread(void *arg)
{
    long sum = 0;
    for (int i = 0; i < 100; i++) {
        if (!arg)
            x = i; // PAIR a b:barriers
        pthread_barrier_wait(&b);
        sum += x; // PAIR b
        pthread_barrier_wait(&b);
    }
    return (void *)sum;
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
