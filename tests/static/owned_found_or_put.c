// Looked for under the lock, and put in if it is not there: the list changes, but nothing is taken out.
#include <pthread.h>
#include <stdlib.h>

struct node {
    struct node *next;
    long key;
    int hits;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *first;

static void *thread(void *arg)
{
    pthread_mutex_lock(&lock);
    struct node *n = first; // NO PAIR
    while (n && n->key != (long)arg)
        n = n->next; // NO PAIR
    if (!n) {
        n = malloc(sizeof *n);
        if (!n)
            abort();
        n->key = (long)arg; // NO PAIR
        n->next = first;    // NO PAIR
        first = n;          // NO PAIR
    }
    pthread_mutex_unlock(&lock);
    n->hits++; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, thread, (void *)1);
    return 0;
}
