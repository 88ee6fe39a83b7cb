// One thread takes blocks out, another only looks at them and keeps the address: what they do may meet.
#include <pthread.h>
#include <stdlib.h>

struct block {
    struct block *next;
    int number;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *first;

static void *taker(void *arg)
{
    pthread_mutex_lock(&lock);
    struct block *b = first; // NO PAIR
    if (b)
        first = b->next; // NO PAIR
    pthread_mutex_unlock(&lock);
    if (b)
        b->number = 1; // PAIR a:owned b
    return NULL;
}

static void *watcher(void *arg)
{
    pthread_mutex_lock(&lock);
    struct block *b = first; // NO PAIR
    pthread_mutex_unlock(&lock);
    if (b)
        b->number = 2; // PAIR b
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    struct block *b = malloc(sizeof *b);
    if (!b)
        abort();
    b->next = NULL; // NO PAIR
    first = b;      // NO PAIR
    pthread_create(&t[0], NULL, taker, NULL);
    pthread_create(&t[1], NULL, taker, NULL);
    pthread_create(&t[2], NULL, watcher, NULL);
    return 0;
}
