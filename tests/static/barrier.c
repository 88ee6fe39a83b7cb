// Phases separated by a barrier, in threads of different kinds: what is assumed of barriers is assumed of equal threads.
#include <pthread.h>

int x, y;
pthread_barrier_t b;

static void *thread(void *arg)
{
    x = 1; // PAIR a
    pthread_barrier_wait(&b);
    y = x; // PAIR b c
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_barrier_init(&b, NULL, 2);
    pthread_create(&t, NULL, thread, NULL);
    pthread_barrier_wait(&b);
    x = 2; // PAIR a c
    y = 2; // PAIR b
    pthread_join(t, NULL);
    return 0;
}
