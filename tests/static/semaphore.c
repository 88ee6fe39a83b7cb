// A semaphore may order two threads, but holds nothing: the analysis does not count on it.
#include <pthread.h>
#include <semaphore.h>

int x;
sem_t ready;

static void *thread(void *arg)
{
    x = 1; // PAIR a
    sem_post(&ready);
    return NULL;
}

int main(void)
{
    pthread_t t;
    sem_init(&ready, 0, 0);
    pthread_create(&t, NULL, thread, NULL);
    sem_wait(&ready);
    x = 2; // PAIR a
    pthread_join(t, NULL);
    return 0;
}
