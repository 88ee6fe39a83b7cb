/*
 * stages.c - a pair for each way that the pipeline ends with: one that races all the time; one that a barrier
 * orders, which is still possible for all that runs can show; and some of accesses that are never made, or
 * only to memory that no other thread can reach.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 150 };

struct block {
    int value;
};
struct block *shared;
int racy, never, ordered;
static pthread_barrier_t both;

static struct block *make(int publish)
{
    struct block *b = malloc(sizeof(*b));
    if (publish)
        shared = b;
    return b;
}

static void *worker(void *arg)
{
    int first = *(int *)arg;
    if (first)
        ordered = 1; /* BEFORE */
    pthread_barrier_wait(&both);
    if (!first)
        first = ordered; /* AFTER */
    for (int i = 0; i < ROUNDS; i++) {
        racy++; /* RACY */
        if (first < 0)
            never++; /* NEVER */
        usleep(500);
    }
    struct block *b = make(first < 0);
    b->value = first; /* PRIVATE */
    if (first < 0 && shared)
        printf("%d\n", shared->value); /* SHARED */
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    int numbers[2] = {0, 1};
    pthread_barrier_init(&both, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    puts("output of the program");
    return 0;
}
