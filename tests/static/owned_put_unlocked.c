// Taken out under the lock, but put in without it: the place races, and nothing orders what was done before.
#include <pthread.h>
#include <stdlib.h>

struct block {
    struct block *next;
    int number;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *first;

static void *thread(void *arg)
{
    pthread_mutex_lock(&lock);
    struct block *b = first; // PAIR a
    if (b)
        first = b->next; // PAIR b e:published
    pthread_mutex_unlock(&lock);
    if (b)
        b->number++; // PAIR c d:published
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, thread, NULL);
    struct block *b = malloc(sizeof *b);
    if (!b)
        abort();
    b->next = NULL; // PAIR e
    b->number = 7;  // PAIR d
    first = b;      // PAIR a b
    return 0;
}
