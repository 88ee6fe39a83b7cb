// The function that hands a block over returns it, and the caller goes on with that.
#include <pthread.h>
#include <stdlib.h>

struct block {
    struct block *next;
    int number;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *first;

__attribute__((noinline)) static struct block *put(struct block *b)
{
    pthread_mutex_lock(&lock);
    b->next = first;
    first = b; // NO PAIR
    pthread_mutex_unlock(&lock);
    return b;
}

static void *thread(void *arg)
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

int main(int argc, char **argv)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, thread, NULL);
    struct block *last = NULL;
    for (int i = 0; i < argc; i++) {
        if (last)
            last->number = 2; // PAIR b
        struct block *b = malloc(sizeof *b);
        if (!b)
            abort();
        last = put(b);
    }
    return 0;
}
