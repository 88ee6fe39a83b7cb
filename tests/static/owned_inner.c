// What a block points to goes along with it.
#include <pthread.h>
#include <stdlib.h>

struct block {
    struct block *next;
    int *data;
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
        b->data[0]++; // PAIR a:owned
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, thread, NULL);
    struct block *b = malloc(sizeof *b);
    int *data = malloc(8);
    if (!b || !data)
        abort();
    data[0] = 1;    // NO PAIR
    b->data = data; // NO PAIR
    data[1] = 2;    // NO PAIR
    pthread_mutex_lock(&lock);
    b->next = first; // NO PAIR
    first = b;       // NO PAIR
    pthread_mutex_unlock(&lock);
    return 0;
}
