// A link is laid over blocks that are free: it is smaller than three words, and may lie over anything.
#include <pthread.h>
#include <stdlib.h>

struct link {
    struct link *next;
};
struct block {
    long number;
    char text[48];
};
static struct link *list;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void give(void *p)
{
    struct link *l = p;
    pthread_mutex_lock(&lock);
    l->next = list; // NO PAIR
    list = l;
    pthread_mutex_unlock(&lock);
}

static void *thread(void *arg)
{
    pthread_mutex_lock(&lock);
    struct block *b = (struct block *)list;
    pthread_mutex_unlock(&lock);
    if (b)
        b->text[0] = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    struct block *b = malloc(sizeof *b);
    if (!b)
        abort();
    give(b);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, thread, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
