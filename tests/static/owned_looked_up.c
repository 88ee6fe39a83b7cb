// Looked up under the lock, but not taken out: two threads may have found the same.
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
    struct block *b = first; // NO PAIR
    while (b && b->next)     // NO PAIR
        b = b->next;         // NO PAIR
    pthread_mutex_unlock(&lock);
    if (b)
        b->number++; // PAIR a
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
    pthread_mutex_lock(&lock);
    b->next = first; // NO PAIR
    first = b;       // NO PAIR
    pthread_mutex_unlock(&lock);
    return 0;
}
