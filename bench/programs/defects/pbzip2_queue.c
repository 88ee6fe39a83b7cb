/*
 * pbzip2_queue.c - the use after free in pbzip2 0.9.4, from its descriptions (Yu and Narayanasamy, ISCA 2009;
 * RaceMob, SOSP 2013): main deletes the queue of blocks when the work is done, though consumers that have
 * said so touch the queue once more.
 *
 * A consumer needs some nanoseconds from saying that it has finished to its last touch; main looks every
 * tenth of a millisecond, and then still has the trailer of the file to write.
 */
#include "../program.h"

#include <stdbool.h>
#include <unistd.h>

enum { BLOCKS = 8, CONSUMERS = 2, BLOCK_WORK = 50000, TRAILER_WORK = 300000 };

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty;
    int blocks[BLOCKS];
    int head, tail;
    bool complete;
};

static struct queue *fifo;
static pthread_mutex_t output_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t output[BLOCKS]; /* each by the consumer of the block */
static int finished;            /* output_lock: consumers that need no more blocks */

static struct queue *queue_new(void)
{
    struct queue *q = calloc(1, sizeof(*q));

    MUST(q);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->not_empty, NULL);
    return q;
}

static void queue_delete(struct queue *q)
{
    pthread_mutex_destroy(&q->lock);
    free(q);
}

static void queue_add(struct queue *q, int block, bool last)
{
    pthread_mutex_lock(&q->lock);
    q->blocks[q->tail++] = block;
    q->complete = last;
    pthread_cond_broadcast(&q->not_empty);
    pthread_mutex_unlock(&q->lock);
}

/* The next block, or -1 if there are no more. */
static int queue_take(struct queue *q)
{
    int block = -1;

    pthread_mutex_lock(&q->lock);
    while (q->head == q->tail && !q->complete)
        pthread_cond_wait(&q->not_empty, &q->lock);
    if (q->head < q->tail)
        block = q->blocks[q->head++];
    pthread_mutex_unlock(&q->lock);
    return block;
}

THREAD(consumer)
{
    int block;

    while ((block = queue_take(fifo)) >= 0)
        output[block] = churn((uint64_t)block, BLOCK_WORK);
    pthread_mutex_lock(&output_lock);
    finished++;
    pthread_mutex_unlock(&output_lock);
    pthread_cond_broadcast(&fifo->not_empty); // DEFECT: others may wait for a block that never comes
    return NULL;
}

static bool is_finished(void)
{
    pthread_mutex_lock(&output_lock);
    bool all = finished == CONSUMERS;
    pthread_mutex_unlock(&output_lock);
    return all;
}

int main(void)
{
    pthread_t consumers[CONSUMERS];

    fifo = queue_new();
    for (int i = 0; i < CONSUMERS; i++)
        consumers[i] = spawn(consumer, NULL);
    for (int i = 0; i < BLOCKS; i++)
        queue_add(fifo, i, i == BLOCKS - 1);
    while (!is_finished())
        usleep(100);
    use((long)churn(output[0], TRAILER_WORK));
    queue_delete(fifo);
    fifo = NULL; // DEFECT
    for (int i = 0; i < CONSUMERS; i++)
        join(consumers[i]);
    puts("pbzip2_queue: 8 blocks");
    return 0;
}
