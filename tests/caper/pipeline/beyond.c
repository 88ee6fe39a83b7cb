/*
 * beyond.c - two accesses that one lock orders, and that are in dpPairs only with a third, which has no lock. Inference waits
 * at each of them, so it sees the two meet, which are no pair.
 */
#include <pthread.h>
#include <unistd.h>

enum { ROUNDS = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int both;

static void *first(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        both = i; /* FIRST */
        pthread_mutex_unlock(&lock);
        usleep(500);
    }
    return arg;
}

static void *second(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        both = -i; /* SECOND */
        pthread_mutex_unlock(&lock);
        usleep(500);
    }
    return arg;
}

int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], NULL, first, NULL);
    pthread_create(&t[1], NULL, second, NULL);
    int seen = both; /* WITHOUT */
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return seen > ROUNDS;
}
