// Blocks that go through a queue: whoever takes one out has it alone, and needs no lock to use it.
#include <pthread.h>
#include <stdlib.h>

enum { SIZE = 16 };
struct block {
    int number;
};
static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct block *at[SIZE];
    unsigned head, tail;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

__attribute__((noinline)) static void put(struct block *b)
{
    pthread_mutex_lock(&queue.lock);
    queue.at[queue.tail++ % SIZE] = b; // NO PAIR
    pthread_cond_signal(&queue.more);
    pthread_mutex_unlock(&queue.lock);
}

__attribute__((noinline)) static struct block *take(void)
{
    pthread_mutex_lock(&queue.lock);
    while (queue.head == queue.tail) // NO PAIR
        pthread_cond_wait(&queue.more, &queue.lock);
    struct block *b = queue.at[queue.head++ % SIZE]; // NO PAIR
    pthread_mutex_unlock(&queue.lock);
    return b;
}

static void *thread(void *arg)
{
    take()->number++; // PAIR a:owned
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, thread, NULL);
    for (int i = 0; i < 2; i++) {
        struct block *b = malloc(sizeof *b);
        if (!b)
            abort();
        b->number = i; // NO PAIR
        put(b);
    }
    return 0;
}
