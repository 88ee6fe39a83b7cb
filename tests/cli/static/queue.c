// clang-format off: sample.c knows these lines. A small program whose possible races are known.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct queue {
    pthread_mutex_t lock;
    int length;
    int dropped;
};

static struct queue *queue;
static struct { long hits, misses; } stats;
static int done;

static void *worker(void *arg)
{
    while (!done)
        ;
    pthread_mutex_lock(&queue->lock);
    queue->length--;
    pthread_mutex_unlock(&queue->lock);
    queue->dropped++;
    stats.hits++;
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    queue = calloc(1, sizeof(*queue));
    pthread_mutex_init(&queue->lock, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    pthread_mutex_lock(&queue->lock);
    queue->length++;
    pthread_mutex_unlock(&queue->lock);
    done = 1;
    printf("%ld\n", stats.hits);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    stats.misses++;
    free(queue);
    return 0;
}
