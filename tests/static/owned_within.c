// Used once more by who gave it away, but before the lock is released: nobody can have taken it yet.
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
    if (b)
        first = b->next; // NO PAIR
    pthread_mutex_unlock(&lock);
    if (b)
        b->number = 1; // PAIR a:owned b:owned
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
    b->next = first;
    first = b;     // NO PAIR
    b->number = 2; // PAIR b
    pthread_mutex_unlock(&lock);
    return 0;
}
