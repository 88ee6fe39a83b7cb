// Items go from one thread to another through a queue: the queue's lock orders them, though neither thread holds it
// when it uses an item. The last item goes by no queue. The argument chooses the others' way: 1: one queue; 2: two of
// them by a queue; 3: each by a queue of its own.
#include "invisible.h"

enum { ITEMS = 9 };

static struct queue {
    pthread_mutex_t lock;
    int length;
} queue, queues[ITEMS];

static int items[ITEMS];
static int mode;

static __attribute__((noinline)) void pass(int i, int n)
{
    struct queue *q = mode == 3 ? &queues[i] : &queue;
    if (i >= (mode == 2 ? 2 : ITEMS - 1))
        return;
    pthread_mutex_lock(&q->lock);
    q->length += n;
    pthread_mutex_unlock(&q->lock);
}

static __attribute__((noinline)) void fill(int i)
{
    items[i] = i;
}

static __attribute__((noinline)) void consume(int i)
{
    use(items[i]);
}

THREAD(producer)
{
    for (int i = 0; i < ITEMS; i++) {
        after(2 * i);
        fill(i);
        pass(i, 1);
        mark();
    }
    return NULL;
}

THREAD(consumer)
{
    static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER; /* recordings keep the order of what is locked */
    for (int i = 0; i < ITEMS; i++) {
        after(2 * i + 1);
        pass(i, -1);
        pthread_mutex_lock(&own);
        pthread_mutex_unlock(&own);
        consume(i);
        mark();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mode = argc > 1 ? atoi(argv[1]) : 1;
    pthread_mutex_init(&queue.lock, NULL);
    for (int i = 0; i < ITEMS; i++)
        pthread_mutex_init(&queues[i].lock, NULL);
    both(producer, consumer);
    return 0;
}
